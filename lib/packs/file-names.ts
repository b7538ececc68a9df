import { ServiceError } from '#lib/errors.ts'
import { quoted } from './damaged.ts'

/** What is wrong with a name in a pack (segments joined by `/`), or undefined. */
export const nameProblem = (name: string): string | undefined => {
  if (name === '') return 'it is empty'
  if (Buffer.byteLength(name) > 1024) return 'it is longer than 1024 bytes'
  if (/\p{Cc}/u.test(name)) return 'it has control characters'
  if (name.includes('\\')) return 'it has a backslash'
  // U+FFFD is what stands for bytes that are no UTF-8.
  if (name.includes('\uFFFD') || !name.isWellFormed()) return 'it is not UTF-8'
  for (const segment of name.split('/')) {
    if (segment === '') return 'it has an empty segment'
    if (segment === '.' || segment === '..') return `it has the segment ${segment}`
    if (segment.toLowerCase().startsWith('.vmhost-')) return 'names that begin with .vmhost- belong to the service'
    if (Buffer.byteLength(segment) > 255) return 'it has a segment longer than 255 bytes'
  }
  return undefined
}

/** What two names have in common that are one on a file system without case or with one form of Unicode only. */
const folded = (name: string): string => name.normalize('NFD').toUpperCase().normalize('NFD')

interface Known {
  readonly name: string
  readonly kind: 'file' | 'folder'
  /** Named by itself, and not only by what is in it. */
  listed: boolean
}

export interface Names {
  /** Files and folders so far. */
  readonly count: number
  /**
   * Takes in a name, which is never there twice, and gives the folders that this one is the first to need, outermost
   * first (itself included). Throws `invalid` for a name that is bad, or one with another on some file system.
   */
  add(name: string, kind: 'file' | 'folder'): readonly string[]
}

/** The names of one pack. */
export const createNames = (): Names => {
  const known = new Map<string, Known>()

  const refuse = (name: string, why: string): never => {
    throw new ServiceError('invalid', `The name ${quoted(name)} cannot be in a pack: ${why}.`)
  }
  /** Whether `name` is new. */
  const take = (name: string, kind: 'file' | 'folder', listed: boolean): boolean => {
    const key = folded(name)
    const there = known.get(key)
    if (!there) {
      known.set(key, { name, kind, listed })
      return true
    }
    if (there.name !== name) refuse(name, `on some file systems it is the same as ${quoted(there.name)}`)
    if (there.kind !== kind) refuse(name, 'it is a file and a folder')
    if (listed && there.listed) refuse(name, 'it is there twice')
    if (listed) there.listed = true
    return false
  }

  return {
    get count() {
      return known.size
    },
    add(name, kind) {
      const problem = nameProblem(name)
      if (problem !== undefined) refuse(name, problem)
      const folders: string[] = []
      for (let end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1)) {
        const parent = name.slice(0, end)
        if (take(parent, 'folder', false)) folders.push(parent)
      }
      if (take(name, kind, true) && kind === 'folder') folders.push(name)
      return folders
    },
  }
}
