import type { RequestBody } from './request-body.ts'

/** What a Worker has for bodies of a known length; Node has none. */
type FixedLength = new (size: number) => TransformStream<Uint8Array, Uint8Array>

const { FixedLengthStream } = globalThis as { readonly FixedLengthStream?: FixedLength }

/** What `fetch` needs to send a body as it comes. */
interface FetchBody {
  readonly body?: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>
  /** Node demands it for a stream. */
  readonly duplex?: 'half'
  readonly headers: Readonly<Record<string, string>>
}

/** The chunks of a body as a stream that opens it when it is read. */
const toStream = ({ open }: RequestBody): ReadableStream<Uint8Array> => {
  const chunks = open()[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks.return?.()),
    },
    // Nothing is read before it can be sent.
    { highWaterMark: 0 },
  )
}

/**
 * Makes the body of a request over `fetch`. Storages demand Content-Length, which a Worker derives from the kind of the
 * stream, and Node takes from the headers.
 */
export const createFetchBody = (body: RequestBody | undefined): FetchBody => {
  if (!body) return { headers: {} }
  const headers = { 'Content-Length': String(body.size) }
  if (body.size === 0) return { body: new Uint8Array(0), headers }
  const stream = toStream(body)
  if (!FixedLengthStream) return { body: stream, duplex: 'half', headers }
  const { readable, writable } = new FixedLengthStream(body.size)
  // An error of the source reaches the request as well, which reports it.
  stream.pipeTo(writable).catch(() => undefined)
  return { body: readable, headers: {} }
}
