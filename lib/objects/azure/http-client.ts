import type { HttpHeaders, IHttpClient, WebResource } from '@azure/storage-blob'
import type { IncomingHttpHeaders } from 'node:http'
import { readText } from '../http/response-body.ts'
import { statusError } from '../http/http-errors.ts'
import type { Fetcher } from '../http/send.ts'
import { createBody } from '../http/request-body.ts'

const toBytes = (body: unknown): Uint8Array | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw new TypeError('Only bytes are sent, because a stream cannot be sent again.')
}

/** Copies headers into an object of the library's class, which it exports as a type only: a clone of `template`. */
const toAzureHeaders = (template: HttpHeaders, headers: IncomingHttpHeaders): HttpHeaders => {
  const copy = template.clone()
  for (const name of copy.headerNames()) copy.remove(name)
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) copy.set(name, String(value))
  return copy
}

/**
 * The HTTP client of the Azure library on our fetcher: the same limits, no redirects, and `ServiceError` for unsuccessful
 * statuses. `base` is the URL of the container.
 */
export const createAzureHttpClient = (base: URL, fetcher: Fetcher): IHttpClient => ({
  async sendRequest(request: WebResource) {
    const url = new URL(request.url)
    const bytes = toBytes(request.body)
    const { status, headers, body } = await fetcher({
      method: request.method,
      url,
      headers: request.headers.toJson({ preserveCase: true }),
      body: bytes && createBody(bytes, loadedBytes => request.onUploadProgress?.({ loadedBytes })),
      signal: request.abortSignal as AbortSignal | undefined,
    })
    if (status >= 300) {
      const what = decodeURIComponent(url.pathname.slice(base.pathname.length + 1))
      // A reply to HEAD has no body, and proxies leave out the code.
      const code = headers['x-ms-error-code'] ?? (status === 404 ? 'BlobNotFound' : undefined)
      body.destroy()
      throw statusError({ host: url.host, status, headers, what, ...(typeof code === 'string' && { code }) })
    }
    const reply = { request, status, headers: toAzureHeaders(request.headers, headers) }
    const streamed = request.streamResponseStatusCodes
    if (!streamed?.has(status) && !streamed?.has(Infinity))
      return { ...reply, bodyAsText: await readText(url.host, body) }
    // The library removes its listeners before the last possible error, and an unhandled error ends the service.
    body.on('error', () => undefined)
    return { ...reply, readableStreamBody: body }
  },
})
