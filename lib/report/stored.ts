import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isSystemError } from '#lib/platform/files.ts'

/** What a folder contains. */
interface FolderSize {
  readonly files: number
  /** Bytes of their lengths. */
  readonly bytes: number
}

const measure = async (path: string): Promise<FolderSize> => {
  const found = await lstat(path).catch((error: unknown) => {
    // The service may have deleted it meanwhile.
    if (isSystemError(error, 'ENOENT')) return undefined
    throw error
  })
  if (!found) return { files: 0, bytes: 0 }
  if (!found.isDirectory()) return { files: 1, bytes: found.size }
  let [files, bytes] = [0, 0]
  for (const name of await readdir(path)) {
    const inside = await measure(join(path, name))
    files += inside.files
    bytes += inside.bytes
  }
  return { files, bytes }
}

/** Returns the number of files and their bytes, by the names in the state folder. Empty if there is none. */
export const measureStateFolder = async (state: string): Promise<Readonly<Record<string, FolderSize>>> => {
  const names = await readdir(state).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return []
    throw error
  })
  const sizes: [string, FolderSize][] = []
  for (const name of names.toSorted((one, other) => (one < other ? -1 : 1)))
    sizes.push([name, await measure(join(state, name))])
  return Object.fromEntries(sizes)
}
