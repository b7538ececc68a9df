import { link, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { syncFile, syncFolder } from '#lib/platform/files.ts'
import { openFile } from '#lib/platform/open-file.ts'
import type { Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import { explainFileError } from '../../files/file-faults.ts'
import type { MachineFolders } from '../../files/machine-folders.ts'
import type { Snapshot, SnapshotTree } from '../../snapshot.ts'
import { revertDefinition } from '../../snapshots/view-snapshot.ts'
import { requireSnapshot } from '../../snapshots/tree.ts'
import { copyImage } from '../disks/content.ts'
import type { Machine } from '../machine.ts'
import { writePersistedState } from '../persisted-state.ts'
import type { EmulatorProgram } from '../program.ts'
import { checkStateOwner } from '../saved-state.ts'
import { getSavedState, getStateFile, getUnfinishedPath } from './files.ts'

/**
 * A revert has three parts. The first one makes all new files beside the present ones; the machine does not change. Then
 * `SnapshotTree.reverting` is written. From then on the second part only renames, and it can be done again and again: a start of the
 * service does what a killed one has not done. The third part starts the guest.
 */

type StoppedMachine = Pick<MachineView, 'id' | 'name' | 'home' | 'definition'>

export interface RevertContext {
  readonly folders: MachineFolders
  readonly loadProgram: () => Promise<EmulatorProgram>
  readonly writeSnapshots: (id: string, tree: SnapshotTree) => Promise<void>
}

const listReplaced = (home: string, { layers, memory }: Snapshot): readonly string[] => [
  ...Object.keys(layers).map(disk => join(home, disk)),
  ...(memory ? [getSavedState(home)] : []),
]

/** Throws `conflict` for a snapshot whose memory this service cannot restore. */
export const assertRestorable = async (
  { id, home }: Pick<MachineView, 'id' | 'home'>,
  snapshot: Snapshot,
  loadProgram: () => Promise<EmulatorProgram>,
): Promise<void> => {
  if (!snapshot.memory) return
  const { digest } = await loadProgram()
  const { memory } = snapshot.definition
  await checkStateOwner(join(home, getStateFile(snapshot.id)), { id, emulator: digest, memory }).catch(error => {
    throw new ServiceError(
      'conflict',
      `The memory of the snapshot ${snapshot.name} cannot be used: ${messageOf(error)}. The machine is as it was.`,
      { cause: error },
    )
  })
}

/** Makes the new files of a revert beside the present ones. Throws `no-space` and `conflict`; the machine is unchanged then. */
const prepareFiles = async (home: string, { id, layers, memory }: Snapshot, deadline: AbortSignal): Promise<void> => {
  for (const [disk, layer] of Object.entries(layers)) {
    const path = getUnfinishedPath(join(home, disk))
    await rm(path, { force: true })
    await using file = await openFile(join(home, layer))
    await copyImage(file, path, deadline)
    await syncFile(path)
  }
  if (!memory) return
  const path = getUnfinishedPath(getSavedState(home))
  await rm(path, { force: true })
  // Nobody writes to a saved state, so both names can have the same file.
  await link(join(home, getStateFile(id)), path)
}

/** Deletes the files of reverts to these snapshots that were not begun. */
export const discardFiles = async (home: string, snapshots: readonly Snapshot[]): Promise<void> => {
  for (const path of new Set(snapshots.flatMap(one => listReplaced(home, one))))
    await rm(getUnfinishedPath(path), { force: true })
}

/** Does the second part of a revert of a machine that does not run. Returns its definition. */
const replaceFiles = async (
  { id, home, definition }: StoppedMachine,
  snapshot: Snapshot,
  { folders }: RevertContext,
): Promise<Definition> => {
  const off = { id, state: 'stopped', since: Date.now(), ranFor: 0 } as const
  // A saved state belongs to the disk of before. Until the new one is there, the machine counts as one that was switched off.
  await writePersistedState(folders, off)
  for (const path of listReplaced(home, snapshot)) await rename(getUnfinishedPath(path), path)
  if (!snapshot.memory) await rm(getSavedState(home), { force: true })
  // A rename does nothing if both names have the same file, as those of a state can that a killed service has put in its place.
  await discardFiles(home, [snapshot])
  await syncFolder(home)
  const next = revertDefinition(definition, snapshot)
  await folders.writeDefinition(next)
  if (snapshot.memory) await writePersistedState(folders, { ...off, state: 'suspended' })
  return next
}

/** Finishes the revert that a machine that does not run is in the middle of. Returns its definition and its snapshots. */
export const finishRevert = async (
  machine: StoppedMachine,
  tree: SnapshotTree,
  context: RevertContext,
  deadline: AbortSignal,
): Promise<{ readonly definition: Definition; readonly snapshots: SnapshotTree; readonly snapshot: Snapshot }> => {
  const snapshot = requireSnapshot({ name: machine.name, snapshots: tree }, tree.reverting!)
  await prepareFiles(machine.home, snapshot, deadline)
  const definition = await replaceFiles(machine, snapshot, context)
  const snapshots = { snapshots: tree.snapshots, current: snapshot.id }
  await context.writeSnapshots(machine.id, snapshots)
  return { definition, snapshots, snapshot }
}

/** Reverts a machine to a snapshot. Throws as `SnapshotDriver.revert`. */
export const revertMachine = async (
  machine: Machine,
  snapshotId: string,
  context: RevertContext,
  { skipResume, deadline }: { readonly skipResume: boolean; readonly deadline: AbortSignal },
): Promise<MachineView> => {
  const view = machine.view()
  const { id, home, snapshots: tree } = view
  const snapshot = requireSnapshot(view, snapshotId)
  try {
    await assertRestorable(view, snapshot, context.loadProgram)
    await prepareFiles(home, snapshot, deadline)
    deadline.throwIfAborted()
    await context.writeSnapshots(id, { ...tree!, reverting: snapshotId })
  } catch (error) {
    await discardFiles(home, [snapshot]).catch(() => {})
    throw await explainFileError(error, home)
  }
  const reverted = await machine.replaceFiles(async () => {
    const definition = await replaceFiles(view, snapshot, context)
    await context.writeSnapshots(id, { snapshots: tree!.snapshots, current: snapshotId })
    return { definition, state: snapshot.memory ? 'suspended' : 'stopped' }
  })
  if (skipResume || !snapshot.memory || snapshot.state === 'suspended') return reverted
  deadline.throwIfAborted()
  return machine.restore(snapshot.state === 'paused' ? 'paused' : 'running', deadline)
}
