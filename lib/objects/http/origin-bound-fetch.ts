import { isFault, ServiceError } from '#lib/errors.ts'
import { isTransientStatus } from './http-errors.ts'
import { replyError } from './response.ts'
import { TransientError, withRetry } from '#lib/async/retry.ts'
import type { Fetcher } from './fetcher.ts'
import { trackBody } from './request-body.ts'

/**
 * Gives a fetcher for the server at `base` and for the servers that it redirects to. Only requests to the origin of `base`
 * carry `credentials`, which is called for each request. Throws `TransientError` for a transient status, and `upstream` when
 * `base` redirects to a forbidden address.
 */
export const createOriginBoundFetch =
  (base: URL, fetcher: Fetcher, credentials?: () => Readonly<Record<string, string>> | undefined): Fetcher =>
  async request => {
    const isOwn = request.url.origin === base.origin
    const headers = { ...request.headers, ...(isOwn && credentials?.()) }
    const reply = await fetcher({ ...request, headers }).catch((error: unknown) => {
      if (isOwn || !isFault(error, 'forbidden')) throw error
      throw new ServiceError('upstream', `The storage ${base.host} redirects to an address that is not allowed.`)
    })
    if (isTransientStatus(reply.status)) throw replyError(reply, 'a request')
    return reply
  }

/**
 * Gives a fetcher that retries transient errors, except errors of the request body's own source. Only for requests that may
 * be sent twice.
 */
export const retryRequests =
  (fetcher: Fetcher): Fetcher =>
  request => {
    const source = request.body && trackBody(request.body)
    const send = () => fetcher({ ...request, body: source?.body })
    return withRetry(
      send,
      request.signal,
      error => error instanceof TransientError && source?.sourceError() === undefined,
    )
  }
