import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { openFile, type OpenFile } from '#lib/platform/open-file.ts'
import { createNames } from './file-names.ts'

/** One file of a pack: its name in it (segments joined by '/', no leading slash), and where it is. */
export interface PackFile {
  readonly name: string
  readonly path: string
  /** Bytes. */
  readonly size: number
  readonly mode: number
  readonly modifiedAt: Date
  /** Opens it each time that it is read: where somebody else has named it, it is judged then. */
  readonly open: () => Promise<OpenFile>
}

/** The order of a pack: that of the names' UTF-16 code units, on every host the same. */
export const byName = (one: PackFile, other: PackFile): number => (one.name < other.name ? -1 : 1)

/**
 * The files of the folder or bundle of a machine, sorted, which `open` opens by their paths. `leaveOut` is asked of each name,
 * folders included, and says what is not packed. Throws `invalid`, with the name, for links, for anything else that is neither file nor folder,
 * and for names that cannot be unpacked everywhere.
 */
export const filesOf = async (
  folder: string,
  leaveOut: (name: string) => boolean = () => false,
  open: (path: string) => Promise<OpenFile> = openFile,
): Promise<readonly PackFile[]> => {
  const names = createNames()
  const files: PackFile[] = []

  const visit = async (inside: string): Promise<void> => {
    for (const entry of await readdir(join(folder, inside), { withFileTypes: true })) {
      const name = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (leaveOut(name)) continue
      if (!entry.isFile() && !entry.isDirectory())
        throw new ServiceError(
          'invalid',
          `${name} is ${entry.isSymbolicLink() ? 'a link' : 'neither a file nor a folder'}, which cannot be packed. Remove it, or put what is meant there.`,
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
  return files.sort(byName)
}
