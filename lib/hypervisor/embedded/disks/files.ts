import { constants } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'

/** Creates a sparse disk of `size` zero bytes. */
export const createSparseDisk = async (path: string, size: number): Promise<void> => {
  await using file = await open(path, 'wx', 0o600)
  await file.truncate(size)
}

/** Copies a file; shares its blocks (reflink) if the file system can. */
export const copyWithReflink = (from: string, to: string): Promise<void> =>
  copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
