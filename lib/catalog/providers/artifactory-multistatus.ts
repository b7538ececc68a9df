import { modifiedAtOf } from './http/reply.ts'

/** What a WebDAV server says of what is at an address, or of a member of the folder there. */
export interface Member {
  /** Empty for the address itself. */
  readonly name: string
  readonly isFolder: boolean
  /** Bytes. */
  readonly size: number
  readonly modifiedAt?: string
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescape = (text: string): string =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, named) => {
    if (named) return entities[(named as string).toLowerCase()] ?? whole
    const point = hex ? parseInt(hex as string, 16) : Number(decimal)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/** The path of an address, decoded; undefined for what is none. */
const pathOf = (address: string, base: URL): string | undefined => {
  try {
    return decodeURIComponent(new URL(address, base).pathname).replace(/\/$/, '')
  } catch {
    return undefined
  }
}

/** A tag and the text behind it. What may follow a name cannot be a part of it, so no sign is looked at again and again. */
const tags = /<(\/?)([^\s<>/]+)(?:[\s/][^<>]*)?>([^<]*)/g

/** The answers in a multistatus document (RFC 4918 14.16) that are of `asked` or right below it. */
export const membersIn = (xml: string, asked: URL): readonly Member[] => {
  const base = pathOf(asked.href, asked) ?? ''
  const members: Member[] = []
  let fields = new Map<string, string>()
  for (const [, end, full = '', text = ''] of xml.matchAll(tags)) {
    const name = full.slice(full.lastIndexOf(':') + 1)
    // The first of a name: locks have addresses too.
    if (end === '' && name !== 'response' && !fields.has(name)) fields.set(name, unescape(text).trim())
    if (name !== 'response') continue
    const path = end === '' ? undefined : pathOf(fields.get('href') ?? '', asked)
    const rest = path?.startsWith(base) ? path.slice(base.length) : undefined
    if (rest !== undefined && /^(\/[^/]+)?$/.test(rest))
      members.push({
        name: rest.slice(1),
        isFolder: fields.has('collection'),
        size: Number(fields.get('getcontentlength') ?? 0),
        ...modifiedAtOf(fields.get('getlastmodified')),
      })
    fields = new Map()
  }
  return members
}
