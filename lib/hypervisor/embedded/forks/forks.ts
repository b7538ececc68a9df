import { basename, dirname, join } from 'node:path'
import type { ForkedMachines, NewFork } from '../../fork.ts'
import { createForkJournal, warnOfDamage } from '../../forks/journal.ts'
import type { Machine } from '../machine.ts'
import { type ForkContext, forkMachine, forkSnapshot } from './fork-machine.ts'

/** Forks machines, and removes what a killed service has left of forks. */
export interface Forks {
  /** See `ForkDriver`. */
  fork(source: Machine, forks: readonly NewFork[], deadline: AbortSignal): Promise<ForkedMachines>
  /** See `ForkDriver`. */
  forkSnapshot(
    source: Machine,
    snapshot: string,
    forks: readonly NewFork[],
    deadline: AbortSignal,
  ): Promise<ForkedMachines>
  /** Called at the start of the service, before it looks for machines. Returns whether there was something to remove. */
  removeInterrupted(): Promise<boolean>
}

interface Options extends Omit<ForkContext, 'journal'> {
  /** Contains the machines. */
  readonly folder: string
}

export const createForks = ({ folder, ...others }: Options): Forks => {
  const journal = createForkJournal(join(dirname(folder), 'forks', basename(folder)))
  return {
    fork: (source, forks, deadline) => forkMachine(source, forks, { ...others, journal }, deadline),
    forkSnapshot: (source, snapshot, forks, deadline) =>
      forkSnapshot(source, snapshot, forks, { ...others, journal }, deadline),
    async removeInterrupted() {
      const { ids, damaged, end } = await journal.readInterrupted()
      warnOfDamage(damaged, others.log)
      for (const id of ids) await others.folders.remove(id)
      await end()
      return ids.length > 0
    },
  }
}
