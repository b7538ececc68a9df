import { createHash } from 'node:crypto'

/** A tag has at most 128 letters, digits, `_`, `.` and `-`, and begins with none of the last two. */
const maxTagLength = 128

/** Prefix of tags that are a digest. No encoded path begins so, because s is no hex digit. */
const digestPrefix = '_sha256-'

const escapeByte = (byte: number): string => `_${byte.toString(16).toUpperCase().padStart(2, '0')}`

/**
 * Encodes the path of an object as a tag: `__` for a slash, and `_XX` for each other byte that a tag cannot have. A path that
 * is too long becomes its digest.
 */
export const encodeTag = (path: string): string => {
  const encoded = [...Buffer.from(path)]
    .map((byte, at) => {
      const character = String.fromCharCode(byte)
      if (character === '/') return '__'
      return (at === 0 ? /[A-Za-z0-9]/ : /[A-Za-z0-9.-]/).test(character) ? character : escapeByte(byte)
    })
    .join('')
  return encoded.length <= maxTagLength ? encoded : `${digestPrefix}${createHash('sha256').update(path).digest('hex')}`
}

/** Decodes a tag to a path: undefined for a digest, and for a tag that `encodeTag` does not give. */
export const decodeTag = (tag: string): string | undefined => {
  const bytes = [...tag.matchAll(/__|_([0-9A-F]{2})|([A-Za-z0-9.-])|./gs)].map(([whole, hex, plain]) =>
    whole === '__' ? 0x2f : hex ? parseInt(hex, 16) : (plain?.charCodeAt(0) ?? -1),
  )
  const path = bytes.includes(-1) ? '' : Buffer.from(bytes).toString()
  return encodeTag(path) === tag ? path : undefined
}

/** Whether a tag is a digest, so that only its manifest has the path. */
export const isDigestTag = (tag: string): boolean => tag.startsWith(digestPrefix)
