import type { Readable } from 'node:stream'
import { ServiceError } from '#lib/errors.ts'
import type { ByteRange } from '../provider.ts'

/** Asks for a part. Throws `invalid` for a range that no object has. */
export const rangeHeader = (path: string, range: ByteRange | undefined): Readonly<Record<string, string>> => {
  if (!range) return {}
  const { start, end } = range
  if (!(Number.isSafeInteger(start) && start >= 0 && start < end))
    throw new ServiceError('invalid', `${path} has no bytes from ${start} to ${end}.`)
  return { Range: `bytes=${start}-${end - 1}` }
}

interface Found {
  readonly host: string
  /** Stands for what was asked for in messages: the path of an object, or words. */
  readonly what: string
  /** Content-Length. */
  readonly length: string | undefined
  /** Content-Range. */
  readonly range: string | undefined
}

/** Bytes that a reply will have. Throws `invalid` where the object is shorter, `upstream` where it is no such reply. */
export const sizeOf = (body: Readable, { host, what, length, range: said }: Found, range?: ByteRange): number => {
  const size = Number(length ?? NaN)
  const isWhole = said === undefined && Number.isSafeInteger(size)
  if (!range && isWhole) return size
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(said ?? '') ?? []
  if (range) {
    const { start, end } = range
    const isPart = Number(first) === start && Number(last) === end - 1 && (length === undefined || size === end - start)
    // A server may give the whole for what is that.
    if (isPart || (isWhole && start === 0 && size === end)) return end - start
  }
  body.destroy()
  if (range && range.end > Number(total))
    throw new ServiceError('invalid', `${what} has ${total} bytes, and none from ${range.start} to ${range.end}.`)
  throw new ServiceError('upstream', `The storage ${host} sent other bytes of ${what} than it was asked for.`)
}
