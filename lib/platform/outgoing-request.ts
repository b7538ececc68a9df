import type { IncomingHttpHeaders } from 'node:http'
import { abortable } from '#lib/async/abortable.ts'
import { ServiceError } from '#lib/errors.ts'

export interface OutgoingRequest {
  readonly method: string
  /** http: or https:. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Aborts the request, at its time limit or because nobody waits for the reply any more. */
  readonly signal: AbortSignal
  /** A larger reply is an error. */
  readonly maxReplyBytes: number
}

export interface OutgoingReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer<ArrayBuffer>
}

/**
 * Sends one request to a server that a user has named, and reads its reply. It returns every status, and follows no redirect.
 * Throws `forbidden` when this service may connect to no address of the host, `upstream` when the host cannot be found or
 * reached, ends the connection early or sends too much, and `timeout`.
 */
export type SendOutgoing = (request: OutgoingRequest) => Promise<OutgoingReply>

/** Explains why a request was aborted. */
const createAbortError = (host: string, { reason }: AbortSignal, cause: unknown = reason): ServiceError =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? new ServiceError('timeout', `The host ${host} did not answer in time.`, { cause })
    : new ServiceError('upstream', `The request to ${host} was given up, because nobody waits for it.`, { cause })

/**
 * Waits for a promise whose work takes no signal. When the signal aborts, it stops to wait and throws `timeout` or `upstream`.
 */
export const waitUntilAborted = async <T>(signal: AbortSignal, host: string, promise: Promise<T>): Promise<T> => {
  try {
    return await abortable(promise, signal)
  } catch (error) {
    throw signal.aborted && error === signal.reason ? createAbortError(host, signal) : error
  }
}

/** The host of a URL without the brackets that it has around an IPv6 address. */
export const getHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** The headers of every request; those of the request itself come after them. */
export const commonHeaders = { Accept: 'application/json', 'Accept-Encoding': 'identity' } as const

export const createAddressError = (host: string): ServiceError =>
  new ServiceError(
    'forbidden',
    `The host ${host} has no address to which this service may connect. The setting outgoing_addresses allows private addresses.`,
  )

/** For a server that answers with another protocol than HTTP, or with nothing. */
export const createEndedError = (host: string): ServiceError =>
  new ServiceError('upstream', `The host ${host} ended the connection.`)

const untrustedCodes = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/

/**
 * Explains a failed request by the code of its error. The message of the error names the address, which must not leave the
 * service: it may be one of an internal network.
 */
export const explainRequestFailure = (url: URL, error: unknown, signal: AbortSignal): ServiceError => {
  const host = getHost(url)
  if (error instanceof ServiceError) return error
  const details = { cause: error }
  if (signal.aborted) return createAbortError(host, signal, error)
  const { code = 'no reason was given' }: { code?: string } = Object(error)
  if (/^(ENOTFOUND|EAI_)/.test(code))
    return new ServiceError('upstream', `The host ${host} cannot be found: ${code}.`, details)
  const hint = untrustedCodes.test(code)
    ? '; a certificate that no public authority signed is trusted when NODE_EXTRA_CA_CERTS of this service names its file'
    : code === 'ECONNREFUSED'
      ? '; nobody listens there: does the service run, and on this port?'
      : ''
  return new ServiceError(
    'upstream',
    `The request to ${url.host} failed: ${code}${hint}${hint.endsWith('?') ? '' : '.'}`,
    details,
  )
}
