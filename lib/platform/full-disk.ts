import { ServiceError } from '#lib/errors.ts'
import { isDiskFull } from './files.ts'

/** Throws `no-space` for the error of a full disk, and any other error as it is. `then` says what to do when there is room. */
export const throwFullDisk = (error: unknown, then = 'try again'): never => {
  if (!isDiskFull(error)) throw error
  throw new ServiceError('no-space', `The disk of this host is full. Make room, then ${then}.`, { cause: error })
}
