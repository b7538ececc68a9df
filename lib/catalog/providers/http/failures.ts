import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#lib/errors.ts'
import { Passing, retryAfter } from './retry.ts'

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|^ERR_TLS/

/**
 * Why a request brought no reply, or where `what` says so not all of it, in words. Node's own name addresses, and what a
 * name stands for is nobody's business.
 */
export const failureOf = (host: string, error: unknown, what = `The request to the storage ${host} failed`) => {
  if (error instanceof ServiceError) return error
  const code = (error as NodeJS.ErrnoException).code ?? 'no reason'
  const failed = `${what}: ${code}`
  if (certificate.test(code))
    return new ServiceError(
      'upstream',
      `${failed}. Its certificate is not one that this service trusts; NODE_EXTRA_CA_CERTS names a file of more.`,
      { cause: error },
    )
  // Of Node's own codes these are the ones that say that the request is wrong, not the line.
  if (/^(ENOTFOUND|ERR_|no reason)/.test(code)) return new ServiceError('upstream', `${failed}.`, { cause: error })
  return new Passing(`${failed}.`, error)
}

interface Refusal {
  readonly host: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The storage's own word for it. */
  readonly code?: string | undefined
  /** Stands for what was asked for: the path of an object, or words. */
  readonly what: string
}

const noContainer = new Set(['NoSuchBucket', 'ContainerNotFound'])
const noObject = new Set(['NoSuchKey', 'NoSuchUpload', 'BlobNotFound'])
const passingCodes = new Set(['RequestTimeout', 'BadDigest', 'Md5Mismatch', 'SlowDown', 'OperationAborted'])
const passingStatus = new Set([408, 429, 500, 502, 503, 504])

/** Whether a status says that another attempt may do better. */
export const isPassing = (status: number): boolean => passingStatus.has(status)

/** What a reply that is none of success means. The words of the storage are not passed on: they may repeat what was sent. */
export const refusalOf = ({ host, status, headers, code = '', what }: Refusal): ServiceError => {
  const word = /^[A-Za-z]{1,64}$/.test(code) ? ` ${code}` : ''
  const answered = `The storage ${host} answered ${status}${word}`
  const upstream = (message: string): ServiceError => new ServiceError('upstream', message)
  if (status === 401 || status === 403)
    return upstream(
      code === 'RequestTimeTooSkewed'
        ? `${answered}: its clock and the clock of this host differ too much; set them.`
        : `The storage ${host} refused the credentials of the connection (${status}${word}); check them and what they may do.`,
    )
  if (noContainer.has(code)) return upstream(`${answered}: the bucket or container of the connection is not there.`)
  if (status === 404 && noObject.has(code)) return new ServiceError('not-found', `There is no object ${what}.`)
  if (status >= 300 && status < 400)
    return upstream(
      `${answered} for ${what}, a redirect, which is not followed; check the address and the region in the connection.`,
    )
  if (status === 416) return new ServiceError('invalid', `${what} does not have all the bytes that were asked for.`)
  if (status === 507 || code === 'XMinioStorageFull')
    return new ServiceError('no-space', `The storage ${host} is full, so ${what} was not written.`)
  if (isPassing(status) || passingCodes.has(code))
    return new Passing(`${answered}.`, undefined, retryAfter(headers['retry-after']))
  return upstream(`${answered} for ${what}.`)
}
