import { ServiceError } from '#lib/errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'
import type { ObjectStat } from '../port/provider.ts'
import { readText } from './response-body.ts'
import { createStatusError } from './http-errors.ts'
import type { Reply } from './fetcher.ts'

/** Up to so many bytes, reading the rest is faster than opening a new connection. */
const drainLimit = 64 * 1024

/** The value of a header that comes once. */
export const getHeader = ({ headers }: Pick<Reply, 'headers'>, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** The Content-Length of a reply; undefined without a valid one. */
export const getContentLength = (reply: Pick<Reply, 'headers'>): number | undefined => {
  const text = getHeader(reply, 'content-length')
  const length = text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(length) ? length : undefined
}

/** Releases the connection of a reply whose body is not needed. */
export const drain = (reply: Reply): void => {
  if ((getContentLength(reply) ?? Infinity) <= drainLimit) reply.body.resume()
  else if (!reply.body.readableEnded) reply.body.destroy()
}

/** Whether the status is 2xx. */
export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300

/** Drains a reply with an unexpected status and gives the error for it, see `createStatusError`. */
export const replyError = (reply: Reply, what: string): ServiceError => {
  drain(reply)
  const { url, status, headers } = reply
  return createStatusError({ host: url.host, status, headers, what })
}

/** Parses JSON; undefined for invalid JSON, and for JSON beyond the limits of `isWithinJsonLimits`. */
export const parseJson = (text: string): unknown => {
  if (!isWithinJsonLimits(Buffer.from(text))) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a reply as JSON; undefined when it is not valid. Throws what `readText` throws. */
export const readJson = async ({ url, body }: Reply, limit?: number): Promise<unknown> =>
  parseJson(await readText(url.host, body, limit))

/** Checks the size that a storage reports for an object. Throws `upstream` for a missing or impossible one. */
export const checkObjectSize = (host: string, path: string, size: number | undefined): number => {
  if (size !== undefined && Number.isSafeInteger(size) && size >= 0) return size
  throw new ServiceError('upstream', `The storage ${host} does not say how large ${path} is.`)
}

/** Parses a time of any format to the `modifiedAt` of an object; gives `{}` for an invalid time. */
export const parseModifiedAt = (text: string | undefined): Pick<ObjectStat, 'modifiedAt'> => {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? {} : { modifiedAt: new Date(time).toISOString() }
}
