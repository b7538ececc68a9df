import { copyFile, link, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFile, syncFolder } from '#lib/platform/files.ts'
import type { Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import { firmwareFile } from '../../files/machine-files.ts'
import type { Snapshot, SnapshotTree } from '../../snapshot.ts'
import { revertDefinition } from '../../snapshots/view-snapshot.ts'
import { requireSnapshot } from '../../snapshots/tree.ts'
import { fileNames } from '../file-names.ts'
import type { Images } from '../images.ts'
import { createOverlay, getUnfinishedPath } from '../layers.ts'
import type { QemuMachine } from '../machine.ts'
import type { OperationJournal } from '../operation-journal.ts'
import { deleteMemory } from '../saved-memory.ts'
import { getMemoryFile, getVariablesFile } from './files.ts'

/**
 * A revert has three parts. The first one makes all new files beside the present ones; the machine does not change. Then the journal
 * (`SnapshotTree.reverting`) says that the machine is reverted. From then on the second part only renames, and it can be done again
 * and again: a start of the service does what a killed one has not done. The third part starts the guest.
 */

/** The machine that is reverted, and what it is reverted with. */
export interface RevertContext {
  readonly images: Images
  readonly writeDefinition: (definition: Definition) => Promise<void>
  readonly writeSnapshots: (view: Pick<MachineView, 'id'>, tree: SnapshotTree) => Promise<void>
}

/** Makes the new files of a revert beside the present ones. Throws `no-space` and `conflict`; the machine is unchanged then. */
const prepareFiles = async (
  home: string,
  { id, definition, layers, memory }: Snapshot,
  images: Images,
): Promise<void> => {
  const folder = await realpath(home)
  for (const [disk, base] of Object.entries(layers)) {
    const path = getUnfinishedPath(join(folder, disk))
    await rm(path, { force: true })
    await createOverlay(join(folder, base), path, images)
    await syncFile(path)
  }
  if (definition.firmware === 'uefi') {
    const path = getUnfinishedPath(join(home, firmwareFile))
    await copyFile(join(home, getVariablesFile(id)), path)
    await syncFile(path)
  }
  if (!memory) return
  await rm(join(home, fileNames.unfinishedState), { force: true })
  // Nobody writes to the file of a snapshot, so both names can have the same file.
  await link(join(home, getMemoryFile(id)), join(home, fileNames.unfinishedState))
}

/** Does the second part of a revert. The machine must not run. */
const replaceFiles = async (
  { home, definition }: Pick<MachineView, 'home' | 'definition'>,
  snapshot: Snapshot,
  journal: OperationJournal,
  { writeDefinition }: RevertContext,
): Promise<Definition> => {
  const { layers, memory } = snapshot
  // Saved memory belongs to the disks of before. Until the new state is written, the machine counts as one that was switched off.
  await journal.writeState(undefined)
  const replaced = [...Object.keys(layers), ...(snapshot.definition.firmware === 'uefi' ? [firmwareFile] : [])]
  for (const name of replaced) await rename(getUnfinishedPath(join(home, name)), join(home, name))
  if (memory) {
    await rename(join(home, fileNames.unfinishedState), join(home, fileNames.stateFile))
    // A rename does nothing if both names have the same file, which a killed service has then put in its place already.
    await rm(join(home, fileNames.unfinishedState), { force: true })
    await journal.writeMemory(memory)
  } else await deleteMemory(home)
  await syncFolder(home)
  const next = revertDefinition(definition, snapshot)
  await writeDefinition(next)
  const state = memory ? 'suspended' : 'stopped'
  await journal.writeState({ state, since: Date.now(), ranFor: 0 })
  return next
}

/** Finishes the revert that the journal of a machine that does not run has begun. Returns the definition and the snapshots. */
export const finishRevert = async (
  view: Pick<MachineView, 'id' | 'name' | 'home' | 'definition'>,
  tree: SnapshotTree,
  journal: OperationJournal,
  context: RevertContext,
): Promise<Pick<MachineView, 'definition'> & { readonly snapshots: SnapshotTree }> => {
  const { reverting, snapshots } = tree
  const snapshot = requireSnapshot({ name: view.name, snapshots: tree }, reverting!)
  await prepareFiles(view.home, snapshot, context.images)
  const definition = await replaceFiles(view, snapshot, journal, context)
  const reverted = { snapshots, current: snapshot.id }
  await context.writeSnapshots(view, reverted)
  return { definition, snapshots: reverted }
}

/** Deletes the files of a revert that was not begun. */
const discardFiles = async (home: string, { layers }: Snapshot): Promise<void> => {
  for (const name of [...Object.keys(layers), firmwareFile])
    await rm(getUnfinishedPath(join(home, name)), { force: true })
  await rm(join(home, fileNames.unfinishedState), { force: true })
}

/** Reverts a machine to a snapshot. Throws as `SnapshotDriver.revert`. */
export const revertMachine = async (
  qemuMachine: QemuMachine,
  snapshotId: string,
  context: RevertContext,
  { skipResume, deadline }: { readonly skipResume: boolean; readonly deadline: AbortSignal },
): Promise<MachineView> =>
  qemuMachine.operate(deadline, async ({ machine, control, journal, resumeSuspended }) => {
    const view = machine.view()
    const { home, snapshots: tree } = view
    const snapshot = requireSnapshot(view, snapshotId)
    try {
      await prepareFiles(home, snapshot, context.images)
      deadline.throwIfAborted()
      await context.writeSnapshots(view, { ...tree!, reverting: snapshotId })
    } catch (error) {
      await discardFiles(home, snapshot).catch(machine.warn)
      throw error
    }
    await control.quit()
    const definition = await replaceFiles(view, snapshot, journal, context)
    await context.writeSnapshots(view, { snapshots: tree!.snapshots, current: snapshotId })
    qemuMachine.setDefinition(definition)
    machine.setView(machine.viewIn(snapshot.memory ? 'suspended' : 'stopped', { booted: true }))
    if (skipResume || !snapshot.memory || snapshot.state === 'suspended') return
    await resumeSuspended(deadline, snapshot.state === 'paused' ? 'paused' : 'running')
  })
