import type { Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import type { ByteRange } from '../port/provider.ts'

/** The header that requests a range; none for the whole object. Throws `invalid` for a range that no object can have. */
export const createRangeHeader = (path: string, range: ByteRange | undefined): Readonly<Record<string, string>> => {
  if (!range) return {}
  const { start, end } = range
  if (!(Number.isSafeInteger(start) && start >= 0 && start < end))
    throw new ServiceError('invalid', `${path} has no bytes from ${start} to ${end}.`)
  return { Range: `bytes=${start}-${end - 1}` }
}

interface RangeReply {
  readonly host: string
  /** Names what was requested in messages: the path of an object, or words. */
  readonly what: string
  /** Content-Length. */
  readonly length: string | undefined
  /** Content-Range. */
  readonly range: string | undefined
}

/**
 * Gives how many bytes the body of a reply will have. Throws `invalid` when the object ends before the range does, and
 * `upstream` for a reply that has not the requested range; the body is destroyed then.
 */
export const getBodySize = (
  body: Readable,
  { host, what, length, range: said }: RangeReply,
  range?: ByteRange,
): number => {
  const size = Number(length ?? NaN)
  const isWhole = said === undefined && Number.isSafeInteger(size)
  if (!range && isWhole) return size
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(said ?? '') ?? []
  if (range) {
    const { start, end } = range
    const isPart = Number(first) === start && Number(last) === end - 1 && (length === undefined || size === end - start)
    // For a range that is the whole object a server may send the whole object.
    if (isPart || (isWhole && start === 0 && size === end)) return end - start
  }
  body.destroy()
  if (range && range.end > Number(total))
    throw new ServiceError('invalid', `${what} has ${total} bytes, and none from ${range.start} to ${range.end}.`)
  throw new ServiceError('upstream', `The storage ${host} sent another range of ${what} than was requested.`)
}
