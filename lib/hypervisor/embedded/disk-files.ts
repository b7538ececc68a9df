import { constants } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'

/** Makes a disk of `size` bytes, all zero, that takes no space until it is written to. */
export const makeDisk = async (path: string, size: number): Promise<void> => {
  await using file = await open(path, 'wx', 0o600)
  await file.truncate(size)
}

/** Copies a file, sharing blocks where the file system can. */
export const copyShared = (from: string, to: string): Promise<void> =>
  copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
