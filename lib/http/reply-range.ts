import type { RangeSource } from '#lib/calls/range-reply.ts'
import type { RequestContext } from './context.ts'
import type { Outcome } from './outcome.ts'

type Range = { readonly start: number; readonly end: number }

/**
 * Reads the Range header. Gives undefined when the whole content is to be sent: without a range, for several ranges and for
 * another unit (a server may ignore those). Gives `none` when the range is beyond the end.
 */
const parseRange = (context: RequestContext, { size, etag }: RangeSource): Range | 'none' | undefined => {
  const header = context.header('range')
  const ifRange = context.header('if-range')
  if (header === null || (ifRange !== null && ifRange.trim() !== etag)) return undefined
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return last === '0' || size === 0 ? 'none' : { start: Math.max(0, size - Number(last)), end: size }
  const [start, end] = [Number(first), last === '' ? size : Number(last) + 1]
  if (last !== '' && end <= start) return undefined
  return start < size ? { start, end: Math.min(end, size) } : 'none'
}

/** Answers with the requested range of the source, or with all of it. A HEAD does not open the source. */
export const replyRange = async (
  context: RequestContext,
  source: RangeSource,
  headers: Readonly<Record<string, string>>,
): Promise<Pick<Outcome, 'status' | 'headers' | 'body'>> => {
  const { size, etag } = source
  const range = parseRange(context, source)
  const commonHeaders = { ...headers, 'Content-Type': 'application/octet-stream', 'Accept-Ranges': 'bytes', ETag: etag }
  if (range === 'none')
    return { status: 416, headers: { ...commonHeaders, 'Content-Range': `bytes */${size}` }, body: null }
  const { start, end } = range ?? { start: 0, end: size }
  const ownHeaders = {
    ...commonHeaders,
    'Content-Length': String(end - start),
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${size}` }),
  }
  const body = context.method === 'HEAD' || end === start ? null : await source.read({ start, end })
  return { status: range ? 206 : 200, headers: ownHeaders, body }
}
