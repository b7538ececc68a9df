import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { readStateFile } from '#lib/platform/open-file.ts'

/** The machines that forks under way are making. A machine that is listed does not exist yet for anybody else. */
export interface ForkJournal {
  /** Records machines, durably, before anything of them is made. */
  begin(ids: readonly string[]): Promise<ForkRecord>
  /** Returns the machines whose fork a killed service has not completed, and what to call when nothing of them is left. */
  readInterrupted(): Promise<{ readonly ids: readonly string[]; readonly end: () => Promise<void> }>
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
    const names = await readdir(folder).catch((): string[] => [])
    const ids: string[] = []
    for (const name of names.filter(one => one.endsWith('.json')))
      ids.push(...Record.parse(JSON.parse((await readStateFile(join(folder, name))) ?? '[]')))
    const end = async (): Promise<void> => {
      for (const name of names) await rm(join(folder, name), { force: true })
    }
    return { ids, end }
  },
})
