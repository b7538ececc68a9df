import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '#lib/errors.ts'

/**
 * Holds `folder` for this process until disposed; the operating system lets go of it at any death.
 * Throws `conflict` when another process holds it.
 */
export const lockFolder = (folder: string): Disposable => {
  const database = new DatabaseSync(join(folder, 'lock.db'))
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
