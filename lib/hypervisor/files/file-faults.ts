import { ServiceError } from '#lib/errors.ts'
import { exists, isDiskFull, isInside, isSystemError } from '#lib/platform/files.ts'

/** True if the system denied the service access to a file in a folder. A program that may not be started is outside of it. */
const isForbidden = (error: unknown, folder: string): boolean => {
  const { path }: { path?: unknown } = Object(error)
  const isThere = typeof path === 'string' && (path === folder || isInside(folder, path))
  return isThere && (isSystemError(error, 'EPERM') || isSystemError(error, 'EACCES'))
}

/**
 * Translates an error of the file system into a ServiceError: `no-space` for a full disk, `conflict` for a missing folder or file
 * of the machine, `unavailable` for a disk or folder that cannot be written. Returns any other error unchanged.
 */
export const explainFileError = async (error: unknown, home: string): Promise<unknown> => {
  const createFault = (name: 'no-space' | 'conflict' | 'unavailable', why: string): ServiceError =>
    new ServiceError(name, why, { cause: error })
  if (isDiskFull(error))
    return createFault('no-space', `The disk of the host is full, at ${home}. Free space, then try again.`)
  if (isSystemError(error, 'EROFS') || isSystemError(error, 'EIO'))
    return createFault('unavailable', `The disk of the host cannot be written, at ${home}. Its system log says why.`)
  if (isForbidden(error, home))
    return createFault(
      'unavailable',
      `The system does not let the service change the files in ${home}. Look at their owner, mode and attributes (lsattr), then try again.`,
    )
  if (!isSystemError(error, 'ENOENT') && !isSystemError(error, 'ENOTDIR')) return error
  const missing = (await exists(home)) ? 'A file of the machine is missing in' : 'The folder of the machine is missing:'
  return createFault('conflict', `${missing} ${home}. Put it back, then try again.`)
}
