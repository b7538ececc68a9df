import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { toFullDiskError } from './full-disk.ts'

const fsyncPath = (path: string): void => {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** Removes a database file and the files that SQLite writes beside it. */
const removeDatabaseFiles = (file: string): void => {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
}

/**
 * Creates a file that only its owner can read. `make` writes it under a temporary name; the file is renamed when it is
 * complete and on disk, so there is never an incomplete file under its own name. A failure leaves no file. Throws `invalid`
 * when the folder does not exist, `no-space` on a full disk, and what `make` throws.
 */
export const createFileAtomic = async (file: string, make: (unfinished: string) => Promise<void>): Promise<void> => {
  const folder = dirname(file)
  if (!existsSync(folder))
    throw new ServiceError('invalid', `There is no folder ${folder}. Make it, or name a file in another one.`)
  const unfinished = `${file}.new`
  try {
    removeDatabaseFiles(unfinished)
    // Created with its mode before it has content, because other users may be able to enter the folder.
    closeSync(openSync(unfinished, 'wx', 0o600))
    await make(unfinished)
    fsyncPath(unfinished)
    renameSync(unfinished, file)
  } catch (error) {
    removeDatabaseFiles(unfinished)
    throw toFullDiskError(folder, error) ?? error
  }
  fsyncPath(folder)
}
