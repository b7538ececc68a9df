import { FixedLengthStream } from '#lib/async/fixed-length-stream.ts'
import type { WatchedStream } from './watched-streams.ts'

const createPipe = (length: string | null): TransformStream<Uint8Array, Uint8Array> =>
  length === null || !FixedLengthStream
    ? new TransformStream<Uint8Array, Uint8Array>()
    : new FixedLengthStream(Number(length))

/**
 * Passes on the body of a response, no faster than it is read. It fails when the watched stream has to end, and when the host ends it
 * early. At its end the watched stream is disposed of.
 */
export const passBody = ({ body, headers }: Response, watched: WatchedStream): ReadableStream<Uint8Array> => {
  const { readable, writable } = createPipe(headers.get('content-length'))
  // The reader sees each failure as that of the body.
  void (body ?? new Blob().stream())
    .pipeTo(writable, { signal: watched.signal })
    .catch(() => {})
    .finally(() => watched[Symbol.dispose]())
  return readable
}
