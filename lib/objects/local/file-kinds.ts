import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { ServiceError } from '#lib/errors.ts'
import { isMissingFile } from './partial-files.ts'

/** The state of a file, links not followed; undefined when it is missing. */
const lstatIfExists = (file: string): Promise<Stats | undefined> =>
  lstat(file).catch((error: unknown) => {
    if (isMissingFile(error)) return undefined
    throw error
  })

/** Throws `forbidden` when the object `path` would replace something that is not a file: a pipe, a device, a folder, a link. */
export const assertReplaceable = async (path: string, file: string): Promise<void> => {
  const found = await lstatIfExists(file)
  if (found && !found.isFile()) throw new ServiceError('forbidden', `${path} is not a file, so it is not replaced.`)
}

/** Whether the path is a file or a link: the storage removes nothing else. */
export const isRemovable = async (file: string): Promise<boolean> => {
  const found = await lstatIfExists(file)
  return found !== undefined && (found.isFile() || found.isSymbolicLink())
}
