/** Bytes of an object that can be asked for in parts (RFC 9110, 14). */
export interface Content {
  /** Bytes of the whole. */
  readonly size: number
  /** Stands for the content, with its quotes. */
  readonly etag: string
  /** The bytes from `start` to `end` − 1. */
  readonly read: (range: { readonly start: number; readonly end: number }) => Promise<ReadableStream<Uint8Array>>
}

/** A reply that is the content of an object, or the part of it that the request asks for. */
export class ContentReply {
  readonly content: Content

  constructor(content: Content) {
    this.content = content
  }
}

type Range = { readonly start: number; readonly end: number }

/**
 * The one range that a request asks for: undefined for the whole, also where it asks for several or in another unit,
 * which a server may answer so; `none` when no byte of it is there.
 */
const rangeOf = ({ headers }: Request, { size, etag }: Content): Range | 'none' | undefined => {
  const header = headers.get('range')
  const unless = headers.get('if-range')
  if (header === null || (unless !== null && unless.trim() !== etag)) return undefined
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return last === '0' || size === 0 ? 'none' : { start: Math.max(0, size - Number(last)), end: size }
  const [start, end] = [Number(first), last === '' ? size : Number(last) + 1]
  if (last !== '' && end <= start) return undefined
  return start < size ? { start, end: Math.min(end, size) } : 'none'
}

/** The response of a content; a HEAD opens nothing. */
export const contentResponse = async (
  request: Request,
  content: Content,
  headers: Readonly<Record<string, string>>,
): Promise<Response> => {
  const { size, etag } = content
  const range = rangeOf(request, content)
  const common = { ...headers, 'Content-Type': 'application/octet-stream', 'Accept-Ranges': 'bytes', ETag: etag }
  if (range === 'none')
    return new Response(null, { status: 416, headers: { ...common, 'Content-Range': `bytes */${size}` } })
  const { start, end } = range ?? { start: 0, end: size }
  const own = {
    ...common,
    'Content-Length': String(end - start),
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${size}` }),
  }
  const body = request.method === 'HEAD' || end === start ? null : await content.read({ start, end })
  return new Response(body, { status: range ? 206 : 200, headers: own })
}
