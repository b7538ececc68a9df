import { createHash } from 'node:crypto'

/** Registries take letters, digits, `_`, `.` and `-`, not the last two at first, and 128 of them at most. */
const longest = 128

/** Begins tags that no encoded path has: s is no hex digit. */
const digestMark = '_sha256-'

const escape = (byte: number): string => `_${byte.toString(16).toUpperCase().padStart(2, '0')}`

/**
 * The tag of an object: its path with `__` for a slash and `_XX` for each other byte that a tag cannot have; of a path
 * that is too long for that its digest.
 */
export const tagOf = (path: string): string => {
  const encoded = [...Buffer.from(path)]
    .map((byte, at) => {
      const character = String.fromCharCode(byte)
      if (character === '/') return '__'
      return (at === 0 ? /[A-Za-z0-9]/ : /[A-Za-z0-9.-]/).test(character) ? character : escape(byte)
    })
    .join('')
  return encoded.length <= longest ? encoded : `${digestMark}${createHash('sha256').update(path).digest('hex')}`
}

/** The path that a tag stands for: undefined when only its manifest says it, or when no object has such a tag. */
export const pathOf = (tag: string): string | undefined => {
  const bytes = [...tag.matchAll(/__|_([0-9A-F]{2})|([A-Za-z0-9.-])|./gs)].map(([whole, hex, plain]) =>
    whole === '__' ? 0x2f : hex ? parseInt(hex, 16) : (plain?.charCodeAt(0) ?? -1),
  )
  const path = bytes.includes(-1) ? '' : Buffer.from(bytes).toString()
  return tagOf(path) === tag ? path : undefined
}

/** Whether it is the tag of an object whose path only its manifest says. */
export const isDigestTag = (tag: string): boolean => tag.startsWith(digestMark)
