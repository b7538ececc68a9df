import { isFault, ServiceError } from '#lib/errors.ts'
import { isDiskFull } from '#lib/platform/files.ts'
import { isFull } from './sqlite-errors.ts'

/** Converts a full-disk error of the system, of SQLite or of a ServiceError to one that names the folder; undefined for other errors. */
export const toFullDiskError = (folder: string, error: unknown): ServiceError | undefined =>
  isFull(error) || isDiskFull(error) || isFault(error, 'no-space')
    ? new ServiceError('no-space', `The disk of the folder ${folder} is full. Make room, then try again.`, {
        cause: error,
      })
    : undefined

/** Runs `work`, which writes to a folder. Throws `no-space` with the folder's name on a full disk, else what `work` throws. */
export const withFullDiskError = async <T>(folder: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw toFullDiskError(folder, error) ?? error
  }
}
