import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#lib/errors.ts'
import { createPreconditionError } from '../port/check-version.ts'
import { TransientError } from '#lib/async/retry.ts'
import { parseRetryAfter } from './retry-after.ts'

const certificateErrorCode = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|^ERR_TLS/

/**
 * Turns an error of the connection into a `ServiceError`; one that already is a `ServiceError` stays as it is. The message
 * carries only Node's error code, because Node's messages name resolved addresses.
 * @param what begins the message: what failed
 */
export const createTransportError = (
  host: string,
  error: unknown,
  what = `The request to the storage ${host} failed`,
) => {
  if (error instanceof ServiceError) return error
  const { code = 'no reason' }: { code?: string } = Object(error)
  const failed = `${what}: ${code}`
  if (certificateErrorCode.test(code))
    return new ServiceError(
      'upstream',
      `${failed}. This service does not trust its certificate; NODE_EXTRA_CA_CERTS names a file with further certificates.`,
      { cause: error },
    )
  // These codes mean that the request is wrong, not the connection: another attempt would fail as well.
  if (/^(ENOTFOUND|ERR_|no reason)/.test(code)) return new ServiceError('upstream', `${failed}.`, { cause: error })
  return new TransientError(`${failed}.`, error)
}

interface FailedReply {
  readonly host: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The error code of the storage. */
  readonly code?: string | undefined
  /** Names what was requested in the message: the path of an object, or words. */
  readonly what: string
}

const missingContainerCodes = new Set(['NoSuchBucket', 'ContainerNotFound'])
const missingObjectCodes = new Set(['NoSuchKey', 'NoSuchUpload', 'BlobNotFound'])
const transientCodes = new Set(['RequestTimeout', 'BadDigest', 'Md5Mismatch', 'SlowDown', 'OperationAborted'])
/** Codes of conditional writes whose condition does not hold. */
const preconditionCodes = new Set([
  'PreconditionFailed',
  'ConditionalRequestConflict',
  'ConditionNotMet',
  'BlobAlreadyExists',
])
/** Those from 520 on are Cloudflare's, for a server that it cannot reach: at the edge they come in place of a broken connection. */
const transientStatuses = new Set([408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])

/** Whether another attempt may succeed after this status. */
export const isTransientStatus = (status: number): boolean => transientStatuses.has(status)

/**
 * Turns the status of a failed reply into a `ServiceError`. The message of the storage is left out, because it may repeat
 * credentials that were sent.
 */
export const createStatusError = ({ host, status, headers, code = '', what }: FailedReply): ServiceError => {
  const codeSuffix = /^[A-Za-z]{1,64}$/.test(code) ? ` ${code}` : ''
  const answered = `The storage ${host} answered ${status}${codeSuffix}`
  const createUpstreamError = (message: string): ServiceError => new ServiceError('upstream', message)
  if (status === 401 || status === 403)
    return createUpstreamError(
      code === 'RequestTimeTooSkewed'
        ? `${answered}: its clock and the clock of this host differ too much; set them.`
        : `The storage ${host} refused the credentials of the connection (${status}${codeSuffix}); check them and what they may do.`,
    )
  if (missingContainerCodes.has(code))
    return createUpstreamError(`${answered}: the bucket or container of the connection is not there.`)
  if (status === 404 && missingObjectCodes.has(code))
    return new ServiceError('not-found', `There is no object ${what}.`)
  if (status >= 300 && status < 400)
    return createUpstreamError(
      `${answered} for ${what}, a redirect, which is not followed; check the address and the region in the connection.`,
    )
  if (status === 412 || preconditionCodes.has(code)) return createPreconditionError(what)
  if (status === 416) return new ServiceError('invalid', `${what} does not have all the bytes that were asked for.`)
  if (status === 507 || code === 'XMinioStorageFull')
    return new ServiceError('no-space', `The storage ${host} is full, so ${what} was not written.`)
  if (isTransientStatus(status) || transientCodes.has(code))
    return new TransientError(`${answered}.`, undefined, parseRetryAfter(headers['retry-after']))
  return createUpstreamError(`${answered} for ${what}.`)
}
