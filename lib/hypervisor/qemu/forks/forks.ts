import { dirname, join } from 'node:path'
import type { ForkDriver, NewFork } from '../../fork.ts'
import type { MachineFolders } from '../../files/machine-folders.ts'
import type { QemuMachine } from '../machine.ts'
import { findLivingPid, killUnrecorded, waitForExit } from '../pid.ts'
import { type ForkContext, forkMachine } from './fork-machine.ts'
import { createForkJournal } from './journal.ts'

/** Forks machines, and removes what a killed service has left of forks. */
export interface Forks {
  /** See `ForkDriver`. */
  fork(source: QemuMachine, forks: readonly NewFork[], deadline: AbortSignal): ReturnType<ForkDriver['fork']>
  /** Called at the start of the service, before it looks for machines. */
  removeInterrupted(): Promise<void>
}

interface Options extends Omit<ForkContext, 'journal' | 'discard'> {
  /** Contains the machines. */
  readonly folder: string
  readonly folders: MachineFolders
  /** Releases what a machine that is gone had on the host. */
  readonly release: (id: string) => Promise<void>
}

export const createForks = ({ folder, folders, release, ...others }: Options): Forks => {
  const journal = createForkJournal(join(dirname(folder), 'forks'))
  const discard = async (id: string): Promise<void> => {
    const home = folders.home(id)
    await killUnrecorded(home, id)
    const pid = await findLivingPid(home, id)
    if (pid !== undefined) await waitForExit(pid, id, 0)
    await folders.remove(id)
    await release(id)
  }
  return {
    fork: (source, forks, deadline) => forkMachine(source, forks, { ...others, folders, journal, discard }, deadline),
    async removeInterrupted() {
      const { ids, end } = await journal.readInterrupted()
      for (const id of ids) await discard(id)
      await end()
    },
  }
}
