import { ServiceError } from '#lib/errors.ts'
import { quoteName } from './pack-errors.ts'

/** Says what is wrong with a name in a pack (segments joined by `/`). Returns undefined for a good name. */
export const findNameProblem = (name: string): string | undefined => {
  if (name === '') return 'it is empty'
  if (Buffer.byteLength(name) > 1024) return 'it is longer than 1024 bytes'
  if (/\p{Cc}/u.test(name)) return 'it has control characters'
  if (name.includes('\\')) return 'it has a backslash'
  // A decoder puts U+FFFD in place of bytes that are not UTF-8.
  if (name.includes('\uFFFD') || !name.isWellFormed()) return 'it is not UTF-8'
  for (const segment of name.split('/')) {
    if (segment === '') return 'it has an empty segment'
    if (segment === '.' || segment === '..') return `it has the segment ${segment}`
    if (segment.toLowerCase().startsWith('.vmhost-')) return 'names that begin with .vmhost- belong to the service'
    if (Buffer.byteLength(segment) > 255) return 'it has a segment longer than 255 bytes'
  }
  return undefined
}

/** Gives the same text for names that are one name on a file system that ignores case or normalizes Unicode. */
const foldName = (name: string): string => name.normalize('NFD').toUpperCase().normalize('NFD')

interface NamedEntry {
  readonly name: string
  readonly kind: 'file' | 'folder'
  /** True when the pack lists the entry itself, false when the entry is only a parent folder of another one. */
  isListed: boolean
}

/** The names of one pack, each of which may be there only once. */
export interface NameSet {
  /** The number of files and folders so far. */
  readonly count: number
  /**
   * Adds a name. Returns the folders that it is the first to need, outermost first, itself included. Throws `invalid` for a
   * bad name, and for a name that would be the same as another one on some file systems.
   */
  add(name: string, kind: 'file' | 'folder'): readonly string[]
}

export const createNameSet = (): NameSet => {
  const entries = new Map<string, NamedEntry>()

  const refuse = (name: string, why: string): never => {
    throw new ServiceError('invalid', `The name ${quoteName(name)} cannot be in a pack: ${why}.`)
  }
  /** Returns whether the name is new. */
  const addEntry = (name: string, kind: 'file' | 'folder', isListed: boolean): boolean => {
    const key = foldName(name)
    const existing = entries.get(key)
    if (!existing) {
      entries.set(key, { name, kind, isListed })
      return true
    }
    if (existing.name !== name) refuse(name, `on some file systems it is the same as ${quoteName(existing.name)}`)
    if (existing.kind !== kind) refuse(name, 'it is a file and a folder')
    if (isListed && existing.isListed) refuse(name, 'it is there twice')
    if (isListed) existing.isListed = true
    return false
  }

  return {
    get count() {
      return entries.size
    },
    add(name, kind) {
      const problem = findNameProblem(name)
      if (problem !== undefined) refuse(name, problem)
      const newFolders: string[] = []
      for (let end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1)) {
        const parent = name.slice(0, end)
        if (addEntry(parent, 'folder', false)) newFolders.push(parent)
      }
      if (addEntry(name, kind, true) && kind === 'folder') newFolders.push(name)
      return newFolders
    },
  }
}
