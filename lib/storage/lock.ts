import { closeSync, fchmodSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { isSystemError } from '#lib/platform/files.ts'
import { toFullDiskError } from './full-disk.ts'
import { isBusy, isNoDatabase, isReadOnly } from './sqlite-errors.ts'

const lockFileOf = (folder: string): string => join(folder, 'lock.db')

const toLockError = (folder: string, error: unknown): ServiceError => {
  const createRefusal = (fault: 'conflict' | 'unavailable', message: string): ServiceError =>
    new ServiceError(fault, message, { cause: error })
  if (isBusy(error))
    return createRefusal(
      'conflict',
      `Another vmhost runs on the state folder ${folder}. Stop it, or choose another folder with VMHOST_STATE.`,
    )
  const diskFull = toFullDiskError(folder, error)
  if (diskFull) return diskFull
  if (isReadOnly(error) || isSystemError(error, 'EROFS'))
    return createRefusal('unavailable', `The state folder ${folder} is on a file system that is read-only.`)
  if (isSystemError(error, 'EACCES') || isSystemError(error, 'EPERM'))
    return createRefusal(
      'unavailable',
      `The state folder ${folder} may not be written by this user: ${messageOf(error)}.`,
    )
  if (isNoDatabase(error))
    return createRefusal(
      'unavailable',
      `${lockFileOf(folder)}, which locks the state folder, is damaged. It holds nothing: make sure that no vmhost runs there, delete it, then start again.`,
    )
  return createRefusal('unavailable', `The state folder ${folder} could not be locked: ${messageOf(error)}.`)
}

/**
 * Locks `folder` for this process until disposed. The operating system releases the lock when the process ends in any way.
 * Throws `conflict` when another process has the lock, `no-space` on a full disk, `unavailable` when it cannot be written.
 */
export const lockFolder = (folder: string): Disposable => {
  const file = lockFileOf(folder)
  let database: DatabaseSync | undefined
  try {
    // Whoever can read the file can lock it and keep the service from starting, so only the owner may.
    const handle = openSync(file, 'a', 0o600)
    fchmodSync(handle, 0o600)
    closeSync(handle)
    database = new DatabaseSync(file)
    // Without a journal file, because the disk may be full. Nothing is ever written to this database.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database?.close()
    throw toLockError(folder, error)
  }
  return { [Symbol.dispose]: () => database.close() }
}
