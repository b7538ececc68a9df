import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { OpenedStore } from '../open-store.ts'

interface Options {
  readonly folder: string
  /** Hours between two backups. */
  readonly hours: number
  /** The number of backups that are kept. */
  readonly keep: number
  readonly log: Pick<Logger, 'info' | 'warning'>
}

const hour = 3_600_000
const checkInterval = 5 * 60_000
const backupPattern = /^store-\d{8}T\d{6}Z\.db$/
/** An unfinished backup of a process that was killed. */
const unfinishedPattern = /^store-\d{8}T\d{6}Z\.db\.new$/

/** A time as it stands in file names: 20260601T120000Z. */
export const compactTime = (time: Date): string => time.toISOString().replace(/[-:]|\.\d+/g, '')

/** The file name of a backup. Names sort by time. */
const formatBackupName = (time: number): string => `store-${compactTime(new Date(time))}.db`

/** The backups in a folder, oldest first. */
const listBackups = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter(name => backupPattern.test(name)).toSorted()

/** Backs up the store while it is in use, every `hours` hours after the newest backup, and deletes the oldest backups. */
export const scheduleBackups = (
  store: Pick<OpenedStore, 'backup'>,
  { folder, hours, keep, log }: Options,
): AsyncDisposable => {
  let running: Promise<void> = Promise.resolve()
  const isDue = async (): Promise<boolean> => {
    const newest = (await listBackups(folder)).at(-1)
    return newest === undefined || newest <= formatBackupName(Date.now() - hours * hour)
  }
  const run = async (): Promise<void> => {
    try {
      await makePrivateFolder(folder)
      if (!(await isDue())) return
      for (const name of await readdir(folder)) if (unfinishedPattern.test(name)) await rm(join(folder, name))
      const file = join(folder, formatBackupName(Date.now()))
      await store.backup(file)
      log.info('Backed up the store to {file}', { file })
      for (const expired of (await listBackups(folder)).slice(0, -keep)) await rm(join(folder, expired))
    } catch (error) {
      log.warning('The store could not be backed up: {reason}', { reason: messageOf(error) })
    }
  }
  // Checked often, because a long timer is late on a laptop that sleeps at night.
  let busy = false
  const runIfIdle = (): void => {
    if (busy) return
    busy = true
    running = run().finally(() => (busy = false))
  }
  const timer = setInterval(runIfIdle, checkInterval)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}
