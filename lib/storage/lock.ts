import { closeSync, fchmodSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '#lib/errors.ts'

/**
 * Holds `folder` for this process until disposed; the operating system lets go of it at any death.
 * Throws `conflict` when another process holds it.
 */
export const lockFolder = (folder: string): Disposable => {
  const file = join(folder, 'lock.db')
  // Who can read it can lock it, and keep the service from starting.
  const handle = openSync(file, 'a', 0o600)
  fchmodSync(handle, 0o600)
  closeSync(handle)
  const database = new DatabaseSync(file)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    throw new ServiceError(
      'conflict',
      `Another vmhost runs on the state folder ${folder}. Stop it, or choose another folder with VMHOST_STATE.`,
      { cause: error },
    )
  }
  return { [Symbol.dispose]: () => database.close() }
}
