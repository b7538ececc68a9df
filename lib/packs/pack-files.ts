import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { openFile, type OpenFile } from '#lib/platform/open-file.ts'
import { createNameSet } from './file-names.ts'

/** A file to pack. */
export interface PackFile {
  /** The name in the pack: segments joined by `/`, without a leading slash. */
  readonly name: string
  readonly path: string
  /** Bytes. */
  readonly size: number
  readonly mode: number
  readonly modifiedAt: Date
  /** Opens the file for one reading. A file that a caller of the service has named is checked at each call. */
  readonly open: () => Promise<OpenFile>
}

/** Orders the files of a pack by the UTF-16 code units of their names, which is the same order on every host. */
export const compareByName = (a: PackFile, b: PackFile): number => (a.name < b.name ? -1 : 1)

/**
 * Lists the files in the folder or bundle of a machine, sorted. `isExcluded` gets the name of each file and folder and
 * decides what is not packed; `open` opens a file by its path. Throws `invalid` with the name for a link, for anything else
 * that is neither a file nor a folder, and for a name that cannot be unpacked everywhere.
 */
export const listPackFiles = async (
  folder: string,
  isExcluded: (name: string) => boolean = () => false,
  open: (path: string) => Promise<OpenFile> = openFile,
): Promise<readonly PackFile[]> => {
  const names = createNameSet()
  const files: PackFile[] = []

  const visit = async (subfolder: string): Promise<void> => {
    for (const entry of await readdir(join(folder, subfolder), { withFileTypes: true })) {
      const name = subfolder === '' ? entry.name : `${subfolder}/${entry.name}`
      if (isExcluded(name)) continue
      if (!entry.isFile() && !entry.isDirectory())
        throw new ServiceError(
          'invalid',
          `${name} is ${entry.isSymbolicLink() ? 'a link' : 'neither a file nor a folder'}, which cannot be packed. Remove it, or put a file in its place.`,
        )
      names.add(name, entry.isFile() ? 'file' : 'folder')
      if (entry.isDirectory()) {
        await visit(name)
        continue
      }
      const path = join(folder, name)
      const { size, mode, mtime } = await lstat(path)
      files.push({ name, path, size, mode: mode & 0o777, modifiedAt: mtime, open: () => open(path) })
    }
  }
  await visit('')
  return files.sort(compareByName)
}
