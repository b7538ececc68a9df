import { FixedLengthStream } from '#lib/async/fixed-length-stream.ts'
import { toStream } from '#lib/async/to-stream.ts'
import type { RequestBody } from './request-body.ts'

/** What `fetch` needs to send a body as it comes. */
interface FetchBody {
  readonly body?: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>
  /** Node demands it for a stream. */
  readonly duplex?: 'half'
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Makes the body of a request over `fetch`. Storages demand Content-Length, which a Worker derives from the kind of the
 * stream, and Node takes from the headers.
 */
export const createFetchBody = (body: RequestBody | undefined): FetchBody => {
  if (!body) return { headers: {} }
  const headers = { 'Content-Length': String(body.size) }
  if (body.size === 0) return { body: new Uint8Array(0), headers }
  const stream = toStream(body.open())
  if (!FixedLengthStream) return { body: stream, duplex: 'half', headers }
  const { readable, writable } = new FixedLengthStream(body.size)
  // An error of the source reaches the request as well, which reports it.
  stream.pipeTo(writable).catch(() => undefined)
  return { body: readable, headers: {} }
}
