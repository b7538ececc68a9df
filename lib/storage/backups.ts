import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import type { Log } from '#lib/platform/log.ts'
import type { OpenedStore } from './open-store.ts'

interface Options {
  readonly folder: string
  /** Hours between two backups. */
  readonly hours: number
  /** How many are kept. */
  readonly keep: number
  readonly log: Pick<Log, 'info' | 'warning'>
}

const hour = 3_600_000
const lookEvery = 5 * 60_000
const pattern = /^store-\d{8}T\d{6}Z\.db$/
/** What a process that was killed left. */
const unfinished = /^store-\d{8}T\d{6}Z\.db\.new$/

/** A time in a file name: 20260601T120000Z. */
export const compactTime = (time: Date): string => time.toISOString().replace(/[-:]|\.\d+/g, '')

/** The name of a backup; names are in the order of their times. */
const nameAt = (time: number): string => `store-${compactTime(new Date(time))}.db`

/** The backups in a folder, oldest first. */
const backupsIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter(name => pattern.test(name)).toSorted()

/** Copies the store every so many hours while it is in use, counted from the newest copy, and deletes the oldest ones. */
export const scheduleBackups = (
  store: Pick<OpenedStore, 'backup'>,
  { folder, hours, keep, log }: Options,
): AsyncDisposable => {
  let running: Promise<void> = Promise.resolve()
  const isDue = async (): Promise<boolean> => {
    const newest = (await backupsIn(folder)).at(-1)
    return newest === undefined || newest <= nameAt(Date.now() - hours * hour)
  }
  const run = async (): Promise<void> => {
    try {
      await makePrivateFolder(folder)
      if (!(await isDue())) return
      for (const name of await readdir(folder)) if (unfinished.test(name)) await rm(join(folder, name))
      const file = join(folder, nameAt(Date.now()))
      await store.backup(file)
      log.info('Backed up the store to {file}', { file })
      for (const old of (await backupsIn(folder)).slice(0, -keep)) await rm(join(folder, old))
    } catch (error) {
      log.warning('The store could not be backed up: {reason}', { reason: messageOf(error) })
    }
  }
  // Whether one is due is looked at often: a laptop that sleeps at night has no timer that is right.
  let busy = false
  const look = (): void => {
    if (busy) return
    busy = true
    running = run().finally(() => (busy = false))
  }
  const timer = setInterval(look, lookEvery)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}
