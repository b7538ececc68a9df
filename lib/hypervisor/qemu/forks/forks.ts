import { basename, dirname, join } from 'node:path'
import type { ForkedMachines, NewFork } from '../../fork.ts'
import type { MachineFolders } from '../../files/machine-folders.ts'
import { createForkJournal, warnOfDamage } from '../../forks/journal.ts'
import type { QemuMachine } from '../machine.ts'
import { findLivingPid, killUnrecorded, waitForExit } from '../pid.ts'
import type { ForkContext } from './context.ts'
import { forkMachine } from './fork-machine.ts'
import { forkSnapshot } from './fork-snapshot.ts'
import { createWaitingForks, type WaitingForks } from './waiting-forks.ts'

/** Forks machines, and removes what a killed service has left of forks. */
export interface Forks {
  /** See `ForkDriver`. */
  fork(source: QemuMachine, forks: readonly NewFork[], deadline: AbortSignal): Promise<ForkedMachines>
  /** See `ForkDriver`. */
  forkSnapshot(
    source: QemuMachine,
    snapshot: string,
    forks: readonly NewFork[],
    deadline: AbortSignal,
  ): Promise<ForkedMachines>
  /** Called at the start of the service, before it looks for machines. */
  removeInterrupted(): Promise<void>
  /** Ends the process that waits for the next fork of a machine. Resolves when nothing of it is left. */
  readonly endWaiting: WaitingForks['end']
  /** Ends all processes that wait for forks. */
  close(): Promise<void>
}

interface Options extends Omit<ForkContext, 'journal' | 'discard'> {
  /** Contains the machines. */
  readonly folder: string
  readonly folders: MachineFolders
  /** Releases what a machine that is gone had on the host. */
  readonly release: (id: string) => Promise<void>
}

export const createForks = ({ folder, folders, release, ...others }: Options): Forks => {
  const journal = createForkJournal(join(dirname(folder), 'forks', basename(folder)))
  const discard = async (id: string): Promise<void> => {
    const home = folders.home(id)
    await killUnrecorded(home, id)
    const pid = await findLivingPid(home, id)
    if (pid !== undefined) await waitForExit(pid, id, 0)
    await folders.remove(id)
    await release(id)
  }
  const context: ForkContext = { ...others, folders, journal, discard }
  const waiting = createWaitingForks(context)
  return {
    fork: (source, forks, deadline) => forkMachine(source, forks, { ...context, waiting }, deadline),
    forkSnapshot: (source, snapshot, forks, deadline) => forkSnapshot(source, snapshot, forks, context, deadline),
    endWaiting: waiting.end,
    close: waiting.close,
    async removeInterrupted() {
      const { ids, damaged, end } = await journal.readInterrupted()
      warnOfDamage(damaged, others.log)
      for (const id of ids) await discard(id)
      await end()
    },
  }
}
