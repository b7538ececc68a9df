import { constants } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'

/** Makes what was written to the file `path` survive a power cut. */
export const syncFile = async (path: string): Promise<void> => {
  await using file = await open(path, 'r+')
  await file.sync()
}

/** Makes a disk of `size` bytes, all zero, that takes no space until it is written to. */
export const makeDisk = async (path: string, size: number): Promise<void> => {
  await using file = await open(path, 'wx', 0o600)
  await file.truncate(size)
  await file.sync()
}

/** Copies a file, sharing blocks where the file system can. */
export const copyDurable = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await syncFile(to)
}
