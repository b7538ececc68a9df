import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ConnectionOptions } from 'node:tls'

/** What the typed client sends requests with. */
export type SendFetch = (url: string, init: RequestInit) => Promise<Response>

/** Milliseconds without a byte after which a connection is dead. A reply that waits for a machine takes at most 300 seconds. */
const longestSilence = 330_000

/** Statuses whose replies have no body. */
const emptyStatuses: ReadonlySet<number> = new Set([204, 205, 304])

const toResponse = (message: IncomingMessage): Response => {
  const { statusCode = 0, headers } = message
  const isEmpty = emptyStatuses.has(statusCode)
  if (isEmpty) message.resume()
  return new Response(isEmpty ? null : (Readable.toWeb(message) as ReadableStream), {
    status: statusCode,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
  })
}

/**
 * Creates a `fetch` that can do what that of Node cannot: use a UNIX socket, or trust one certificate. It follows no redirect. Rejects
 * with the error of the operating system or of TLS.
 */
export const createNodeFetch =
  (connection: { readonly socketPath: string } | ConnectionOptions): SendFetch =>
  async (url, { method = 'GET', headers, body, signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const { protocol } = new URL(url)
    const sent = Object.fromEntries(new Headers(headers))
    if (body instanceof Blob) sent['content-length'] = String(body.size)
    const request = (protocol === 'https:' ? requestHttps : requestHttp)(
      url,
      { ...connection, method, headers: sent, timeout: longestSilence, ...(signal && { signal }) },
      resolve,
    )
    request.once('error', reject)
    request.once('timeout', () => request.destroy(new Error(`${new URL(url).host} does not answer`)))
    const stream = typeof body === 'string' || body instanceof Uint8Array ? undefined : new Response(body ?? null).body
    // A request that fails while its body is sent rejects through its own error.
    if (stream) pipeline(Readable.fromWeb(stream as never), request).catch(reject)
    else request.end(body)
    return toResponse(await promise)
  }
