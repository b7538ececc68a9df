import type { HttpHeaders, IHttpClient, WebResource } from '@azure/storage-blob'
import type { IncomingHttpHeaders } from 'node:http'
import { textOf } from '../http/body.ts'
import { refusalOf } from '../http/failures.ts'
import type { Fetcher } from '../http/send.ts'
import { bodyOf } from '../http/sent-body.ts'

const bytesOf = (body: unknown): Uint8Array | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw new TypeError('Only bytes are sent, because a stream cannot be sent again.')
}

/** In the library's own kind of headers, which it exports as a type only. */
const headersLike = (like: HttpHeaders, headers: IncomingHttpHeaders): HttpHeaders => {
  const given = like.clone()
  for (const name of given.headerNames()) given.remove(name)
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) given.set(name, String(value))
  return given
}

/**
 * Lets the library of Azure send by our means: the same limits, no redirects, and refusals in our words. `base` is the
 * address of the container.
 */
export const createHttpClient = (base: URL, fetcher: Fetcher): IHttpClient => ({
  async sendRequest(request: WebResource) {
    const url = new URL(request.url)
    const sent = bytesOf(request.body)
    const { status, headers, body } = await fetcher({
      method: request.method,
      url,
      headers: request.headers.toJson({ preserveCase: true }),
      body: sent && bodyOf(sent, loadedBytes => request.onUploadProgress?.({ loadedBytes })),
      signal: request.abortSignal as AbortSignal | undefined,
    })
    if (status >= 300) {
      const what = decodeURIComponent(url.pathname.slice(base.pathname.length + 1))
      // HEAD is answered without words, and by some in between without a code.
      const code = headers['x-ms-error-code'] ?? (status === 404 ? 'BlobNotFound' : undefined)
      body.destroy()
      throw refusalOf({ host: url.host, status, headers, what, ...(typeof code === 'string' && { code }) })
    }
    const reply = { request, status, headers: headersLike(request.headers, headers) }
    const streamed = request.streamResponseStatusCodes
    if (!streamed?.has(status) && !streamed?.has(Infinity))
      return { ...reply, bodyAsText: await textOf(url.host, body) }
    // The library lets go of a stream before the last error that it may have, and an error unheard ends the service.
    body.on('error', () => undefined)
    return { ...reply, readableStreamBody: body }
  },
})
