import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { TLSSocket } from 'node:tls'
import { toBodyReadError, createBodyTooLargeError } from '#lib/http/body.ts'
import { RequestContext } from '#lib/http/context.ts'
import type { App } from '#lib/http/app.ts'
import type { Outcome } from '#lib/http/outcome.ts'

/** The value of a header. Repeated ones are joined as in `Headers`; Node itself keeps only the first of some headers. */
const readHeader = ({ rawHeaders }: IncomingMessage, name: string): string | null => {
  let value: string | null = null
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const key = rawHeaders[at] ?? ''
    if (key.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue
    const more = rawHeaders[at + 1] ?? ''
    value = value === null ? more : `${value}, ${more}`
  }
  return value
}

/** The direct path serves no request with a query, so all of its contexts share this one. */
const noParams = new URLSearchParams()

/** A request from Node's own objects. */
class NodeContext extends RequestContext {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, address: string) {
    super(incoming.method ?? '', address)
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  header(name: string): string | null {
    return readHeader(this.#incoming, name)
  }

  searchParams(): URLSearchParams {
    return noParams
  }

  protected override get isEncrypted(): boolean {
    return this.#incoming.socket instanceof TLSSocket
  }

  override get connection(): object {
    return this.#incoming.socket
  }

  get signal(): AbortSignal {
    const outgoing = this.#outgoing
    const closed = new AbortController()
    const abort = (): void => {
      if (!outgoing.writableFinished) closed.abort('Client connection prematurely closed.')
    }
    if (outgoing.closed) abort()
    else outgoing.once('close', abort)
    return closed.signal
  }

  readBytes(limit: number): Promise<Uint8Array> {
    const incoming = this.#incoming
    if (Number(this.header('content-length')) > limit) return Promise.reject(createBodyTooLargeError(limit))
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk))
    incoming.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    incoming.on('error', error => reject(toBodyReadError(error)))
    return promise
  }
}

const send = (outgoing: ServerResponse, { status, headers, body }: Outcome): void => {
  if (body instanceof ReadableStream) {
    outgoing.writeHead(status, headers)
    // Node and the DOM have one stream and two types of it.
    pipeline(Readable.fromWeb(body as NodeStream), outgoing, () => undefined)
    return
  }
  if (body === null) {
    outgoing.writeHead(status, headers).end()
    return
  }
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  headers['Content-Length'] = String(size)
  outgoing.writeHead(status, headers)
  // Text of one byte for each character is ASCII, which Node writes faster as Latin-1 than as UTF-8.
  if (typeof body === 'string' && size === body.length) outgoing.end(body, 'latin1')
  else outgoing.end(body)
}

/** A path in its normal form: no query, no escapes, no empty segments and no segments that begin with a dot. */
const plainPath = /^(?:\/[\w~-][\w.~-]*)+$/
/** Exactly one host, in lower case. Two Host headers would be joined by a comma and do not match. */
const plainHost = /^[a-z0-9._-]+(?::\d{1,5})?$/
const plainLength = /^\d{1,5}$/

/** Whether `App.direct` may serve a request. */
const isPlain = (incoming: IncomingMessage): boolean => {
  const { method, url = '' } = incoming
  if (method !== 'GET' && method !== 'POST') return false
  if (!plainPath.test(url) || !plainHost.test(readHeader(incoming, 'host') ?? '')) return false
  if (method === 'GET') return true
  return (
    readHeader(incoming, 'transfer-encoding') === null && plainLength.test(readHeader(incoming, 'content-length') ?? '')
  )
}

interface Options {
  readonly direct: App['direct']
  readonly getAddress: (incoming: IncomingMessage) => string
}

/**
 * Serves plain requests for routes that only read, without a `Request` and a `Response`: those cost more than the rest of a
 * small reply. Gives false, and does nothing, for any other request.
 */
export const createDirectHandler =
  ({ direct, getAddress }: Options) =>
  (incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
    if (!isPlain(incoming)) return false
    const outcome = direct(new NodeContext(incoming, outgoing, getAddress(incoming)), incoming.url ?? '')
    if (!outcome) return false
    if (outcome instanceof Promise)
      outcome.then(
        outcome => send(outgoing, outcome),
        (error: Error) => outgoing.destroy(error),
      )
    else send(outgoing, outcome)
    return true
  }
