import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Logger } from '#lib/platform/log.ts'
import { removeUnfinished, writeFileAtomic } from '#lib/platform/files.ts'
import { readStateFile } from '#lib/platform/open-file.ts'

/** The machines that forks under way are making. A machine that is listed does not exist yet for anybody else. */
export interface ForkJournal {
  /** Records machines, durably, before anything of them is made. */
  begin(ids: readonly string[]): Promise<ForkRecord>
  /** Returns what a killed service has not completed. */
  readInterrupted(): Promise<InterruptedForks>
}

/** The records of forks that were not completed. */
export interface InterruptedForks {
  readonly ids: readonly string[]
  /** Files that cannot be read as records. They stay, because nobody knows which machines they name. */
  readonly damaged: readonly string[]
  /** Deletes the records. It is called when nothing of their machines is left. */
  end(): Promise<void>
}

/** Machines that come to exist together. */
export interface ForkRecord {
  readonly ids: readonly string[]
  /** Records more machines, durably. */
  add(ids: readonly string[]): Promise<void>
  /** Ends the record: all of its machines exist from then on. */
  end(): Promise<void>
}

const Record = z.array(z.uuid())

/** Returns the machines of a record; undefined for a damaged one. */
const readRecord = async (path: string): Promise<readonly string[] | undefined> => {
  try {
    return Record.parse(JSON.parse((await readStateFile(path)) ?? '[]'))
  } catch {
    return undefined
  }
}

/** Creates the journal in a folder of its own. */
export const createForkJournal = (folder: string): ForkJournal => ({
  async begin(ids) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `${crypto.randomUUID()}.json`)
    const recorded = [...ids]
    const write = (): Promise<void> => writeFileAtomic(path, JSON.stringify(recorded))
    await write()
    return {
      ids: recorded,
      async add(more) {
        recorded.push(...more)
        await write()
      },
      end: () => rm(path, { force: true }),
    }
  },
  async readInterrupted() {
    await removeUnfinished(folder)
    const names = await readdir(folder).catch((): string[] => [])
    const ids: string[] = []
    const damaged: string[] = []
    const read: string[] = []
    for (const path of names.filter(one => one.endsWith('.json')).map(name => join(folder, name))) {
      const recorded = await readRecord(path)
      if (recorded) read.push(path)
      else damaged.push(path)
      ids.push(...(recorded ?? []))
    }
    const end = async (): Promise<void> => {
      for (const path of read) await rm(path, { force: true })
    }
    return { ids, damaged, end }
  },
})

/** Logs the records that cannot be read. The start goes on without them. */
export const warnOfDamage = (damaged: readonly string[], log: Logger): void => {
  for (const path of damaged)
    log.error('{path} is damaged: the forks that it records may be incomplete. Delete them, and then the file.', {
      path,
    })
}
