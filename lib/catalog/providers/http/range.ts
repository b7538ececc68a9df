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
  readonly path: string
  /** Content-Length. */
  readonly length: string | undefined
  /** Content-Range. */
  readonly range: string | undefined
}

/** Bytes that a reply will have. Throws `invalid` where the object is shorter, `upstream` where it is no such reply. */
export const sizeOf = (body: Readable, { host, path, length, range: said }: Found, range?: ByteRange): number => {
  const size = Number(length ?? NaN)
  const [, start, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(said ?? '') ?? []
  const right = range
    ? Number(start) === range.start && Number(last) === range.end - 1 && size === range.end - range.start
    : said === undefined && Number.isSafeInteger(size)
  if (right) return size
  body.destroy()
  if (range && range.end > Number(total))
    throw new ServiceError('invalid', `${path} has ${total} bytes, and none from ${range.start} to ${range.end}.`)
  throw new ServiceError('upstream', `The storage ${host} sent other bytes of ${path} than it was asked for.`)
}
