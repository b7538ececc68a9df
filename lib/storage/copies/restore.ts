import { copyFileSync, existsSync, realpathSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { compactTime } from './backups.ts'
import { removeCommitCounts, writeCommitCount } from '../commit-counter.ts'
import { copyDatabase, checkpointWal, readAndCleanUp } from '../database-file.ts'
import { lockFolder } from '../lock.ts'
import { migrations, findNewestVersion } from '../migrations.ts'
import { getStoreFile } from '../open-store.ts'
import { refusePlainReplacement, resealDatabase } from '../prepare-database.ts'
import type { SealSecrets } from '../wrapped-key.ts'
import { verifyCopy } from './verify.ts'
import { checkWal } from '../write-ahead-log.ts'

/** A file that exists after a restore until the next start: sequence numbers since the backup will be used a second time. */
export const getRestoredMarkerFile = (folder: string): string => join(folder, 'restored')

/** Copies the store that is being replaced, and removes its write-ahead log, which SQLite would replay into the new one. */
const preserveReplaced = async (file: string, replacedCopy: string): Promise<void> => {
  try {
    checkWal(file)
    await copyDatabase(file, replacedCopy)
    checkpointWal(file)
  } catch {
    // The store is damaged, which may be why it is replaced. Copy it as it is, and move its log.
    const log = `${file}-wal`
    copyFileSync(file, replacedCopy)
    if (existsSync(log)) renameSync(log, `${replacedCopy}-wal`)
  }
}

/** The result of a restore. */
export interface Restored {
  /** Whether the restored copy is encrypted. */
  readonly sealed: boolean
  /** The path of a copy of the replaced store; undefined when nothing was replaced. */
  readonly replacedCopy: string | undefined
}

const replaceStore = async (folder: string, copy: string, secrets: SealSecrets | undefined): Promise<Restored> => {
  const verified = await verifyCopy(copy, secrets)
  refusePlainReplacement(copy, verified, folder)
  const file = getStoreFile(folder)
  const isItself = existsSync(file) && realpathSync(copy) === realpathSync(file)
  const replacedCopy = existsSync(file) && !isItself ? `${file}.before-restore-${compactTime(new Date())}` : undefined
  if (replacedCopy) await preserveReplaced(file, replacedCopy)
  await writeFileAtomic(getRestoredMarkerFile(folder), '')
  // The copy may be older than the replaced store, so the counter is set to its commits.
  if (verified.dataKey && verified.state)
    await writeCommitCount(file, verified.dataKey, verified.state.commits(), false)
  else await removeCommitCounts(file)
  if (!isItself) await copyDatabase(copy, file)
  return { sealed: verified.dataKey !== undefined, replacedCopy }
}

/**
 * Replaces the store in `folder` with a copy, after the whole copy was verified. The replaced store is kept beside it. `copy`
 * may be the store itself, to accept it as it is. Throws `conflict` while a service runs, `invalid` for a damaged copy, and
 * `unavailable` for a copy that cannot be opened or is plain although the store was encrypted; nothing is changed then.
 */
export const restoreStore = async (
  folder: string,
  copy: string,
  secrets: SealSecrets | undefined,
): Promise<Restored> => {
  using _ = lockFolder(folder)
  return await readAndCleanUp(copy, () => replaceStore(folder, copy, secrets))
}

/** Reseals the store in `folder` with a new data key and another password. Throws as `restoreStore` does. */
export const changeStoragePassword = async (
  folder: string,
  secrets: SealSecrets,
  newPassword: string,
): Promise<void> => {
  using _ = lockFolder(folder)
  const after = { ...secrets, password: newPassword }
  await resealDatabase(getStoreFile(folder), secrets, after, findNewestVersion(migrations))
}
