import { parseModifiedAt } from '../http/response.ts'

/** A file or folder in the reply of a WebDAV server: the requested one, or a member of the requested folder. */
export interface Member {
  /** Empty for the requested file or folder itself. */
  readonly name: string
  readonly isFolder: boolean
  /** Bytes. */
  readonly size: number
  readonly modifiedAt?: string
}

const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, named) => {
    if (named) return namedEntities[(named as string).toLowerCase()] ?? whole
    const point = hex ? parseInt(hex as string, 16) : Number(decimal)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/** The decoded path of an address; undefined for an invalid one. */
const parsePath = (address: string, base: URL): string | undefined => {
  try {
    return decodeURIComponent(new URL(address, base).pathname).replace(/\/$/, '')
  } catch {
    return undefined
  }
}

/** A tag and the text behind it. A name cannot have a character that may follow it, so the expression never backtracks. */
const tags = /<(\/?)([^\s<>/]+)(?:[\s/][^<>]*)?>([^<]*)/g

/** Parses the responses of a multistatus document (RFC 4918 14.16) for `requested` and its direct members. */
export const parseMultistatus = (xml: string, requested: URL): readonly Member[] => {
  const base = parsePath(requested.href, requested) ?? ''
  const members: Member[] = []
  let fields = new Map<string, string>()
  for (const [, end, full = '', text = ''] of xml.matchAll(tags)) {
    const name = full.slice(full.lastIndexOf(':') + 1)
    // Only the first element of a name counts: locks have an href too.
    if (end === '' && name !== 'response' && !fields.has(name)) fields.set(name, decodeEntities(text).trim())
    if (name !== 'response') continue
    const path = end === '' ? undefined : parsePath(fields.get('href') ?? '', requested)
    const rest = path?.startsWith(base) ? path.slice(base.length) : undefined
    if (rest !== undefined && /^(\/[^/]+)?$/.test(rest))
      members.push({
        name: rest.slice(1),
        isFolder: fields.has('collection'),
        size: Number(fields.get('getcontentlength') ?? 0),
        ...parseModifiedAt(fields.get('getlastmodified')),
      })
    fields = new Map()
  }
  return members
}
