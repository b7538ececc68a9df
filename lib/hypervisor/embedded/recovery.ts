import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '#lib/platform/files.ts'
import type { MachineView } from '../driver.ts'
import type { MachineFolders, ValidMachine } from '../files/machine-folders.ts'
import type { SnapshotTree } from '../snapshot.ts'
import { unfinishedBase } from './disks/bases.ts'
import { forkStateFile } from './forks/fork-machine.ts'
import { stateFileName } from './machine-state.ts'
import { writePersistedState, readPersistedState, type PersistedState } from './persisted-state.ts'

interface RecoveredMachine {
  readonly view: MachineView
  /** The state to restore the machine to. */
  readonly resume?: PersistedState['resume']
}

/**
 * Determines the state of a machine after a restart of the service. A machine that ran when the service was killed is stopped with the
 * problem `crashed`. A saved state counts unless the machine has run or was stopped since.
 */
export const recoverMachine = async (
  folders: MachineFolders,
  found: ValidMachine & { readonly snapshots?: SnapshotTree },
): Promise<RecoveredMachine> => {
  const { id, home, definition, snapshots } = found
  const persisted = await readPersistedState(folders, id)
  const stateFile = join(home, stateFileName)
  const unfinished = [`${stateFile}.tmp`, join(home, forkStateFile), join(home, unfinishedBase)]
  for (const file of unfinished) await rm(file, { force: true })
  const base = { id, name: definition.name, definition, home, addresses: [], ...(snapshots && { snapshots }) }
  const hasSavedState = await exists(stateFile)

  if (hasSavedState && (!persisted || persisted.state === 'suspended')) {
    const { since = (await stat(stateFile)).mtimeMs, ranFor = 0, problem, resume } = persisted ?? {}
    const view = {
      ...base,
      state: 'suspended',
      stateFile,
      since,
      ranFor,
      ...(problem !== undefined && { problem }),
    } as const
    return { view, resume }
  }
  const crashed = persisted !== undefined && persisted.state !== 'stopped'
  const problem = crashed ? 'crashed' : persisted?.problem
  const since = crashed ? Date.now() : (persisted?.since ?? Date.parse(definition.created_at))
  const view = { ...base, state: 'stopped', since, ranFor: 0, ...(problem !== undefined && { problem }) } as const
  // Written before the stale saved state is deleted, so that it is never taken for a valid one.
  if (crashed) await writePersistedState(folders, view)
  if (hasSavedState) await rm(stateFile, { force: true })
  return { view }
}
