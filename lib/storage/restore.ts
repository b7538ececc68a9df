import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { compactTime } from './backups.ts'
import { copyDatabase, foldLog } from './database-file.ts'
import { lockFolder } from './lock.ts'
import { migrations } from './migrations.ts'
import { refuseNewer, storeFile } from './open-store.ts'
import { proveDatabase, refusePlain, sealAgain } from './unlock.ts'
import type { SealSecrets } from './wrap.ts'

/** A file that is there after a restore, until the next start: numbers that were given since the copy are given again. */
export const restoredMark = (folder: string): string => join(folder, 'restored')

/**
 * Puts a copy in place of the store in `folder`, after the copy was read wholly and found good. What it replaces is kept
 * beside, in the file whose name is given. Throws `conflict` while a service runs, `unavailable` for a copy that is not
 * good; nothing is changed then.
 */
export const restoreStore = async (
  folder: string,
  copy: string,
  secrets: SealSecrets | undefined,
): Promise<string | undefined> => {
  using _ = lockFolder(folder)
  if (!existsSync(copy)) throw new ServiceError('invalid', `There is no file ${copy}.`)
  const proven = await proveDatabase(copy, secrets)
  refusePlain(copy, proven, secrets)
  refuseNewer(copy, proven.version, migrations.at(-1)?.version ?? 1)
  const file = storeFile(folder)
  const kept = existsSync(file) ? `${file}.before-restore-${compactTime(new Date())}` : undefined
  if (kept) {
    await copyDatabase(file, kept)
    // The log of the old one must not be played into the new one.
    foldLog(file)
  }
  await writeFileAtomic(restoredMark(folder), '')
  await copyDatabase(copy, file)
  return kept
}

/** Seals the store in `folder` anew for another password. Throws as `restoreStore` does. */
export const changeStoragePassword = async (
  folder: string,
  secrets: SealSecrets,
  newPassword: string,
): Promise<void> => {
  using _ = lockFolder(folder)
  await sealAgain(storeFile(folder), secrets, { ...secrets, password: newPassword })
}
