import { link, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFile } from '#lib/platform/files.ts'
import { openFile } from '#lib/platform/open-file.ts'
import { runFrozen } from '../../agent/freeze-guest.ts'
import type { MachineView } from '../../driver.ts'
import { explainFileError } from '../../files/file-faults.ts'
import type { NewSnapshot, Snapshot, SnapshotTree } from '../../snapshot.ts'
import { deleteUnlistedFiles } from '../../snapshots/snapshots-file.ts'
import { addToTree } from '../../snapshots/tree.ts'
import { copyImage } from '../disks/content.ts'
import { assertOwnDisk } from '../disks/own-disk.ts'
import type { Machine } from '../machine.ts'
import { getDiskFile, getSavedState, getStateFile } from './files.ts'

/** Copies the disk of a machine whose guest does not write to it now. */
const copyDisk = async ({ home, definition: { disks } }: MachineView, id: string, deadline: AbortSignal) => {
  const [disk] = disks
  if (!disk) return
  await using file = await openFile(join(home, disk.path))
  await copyImage(file, join(home, getDiskFile(id)), deadline)
}

/** Copies the disk and saves the memory of a machine that runs or is paused. */
const keepRunning = async (machine: Machine, { id, withMemory }: NewSnapshot, deadline: AbortSignal): Promise<void> => {
  const view = machine.view()
  const keep = (): Promise<void> =>
    machine.withGuestHalted(deadline, async session => {
      if (withMemory) await session.save(join(view.home, getStateFile(id)), deadline)
      await copyDisk(view, id, deadline)
    })
  // A saved state has what the guest has not written to its disk yet.
  const mustFreeze = view.state === 'running' && !withMemory
  await runFrozen(mustFreeze ? machine.agentPort.current() : undefined, deadline, keep)
}

/** Copies the disk of a machine that does not run. The saved state of a suspended one gets a second name: nobody writes to it. */
const keepStill = async (view: MachineView, id: string, deadline: AbortSignal): Promise<void> => {
  const { home, state } = view
  await copyDisk(view, id, deadline)
  if (state === 'suspended') await link(getSavedState(home), join(home, getStateFile(id)))
}

/** Makes the files of a snapshot durable. Returns what the snapshot says about them. */
const describeFiles = async (
  { home, definition: { disks } }: MachineView,
  id: string,
  hasMemory: boolean,
): Promise<Pick<Snapshot, 'layers' | 'memory' | 'size'>> => {
  const layers = Object.fromEntries(disks.map(({ path }) => [path, getDiskFile(id)]))
  const files = [...Object.values(layers), ...(hasMemory ? [getStateFile(id)] : [])].map(name => join(home, name))
  for (const file of files) await syncFile(file)
  const stats = await Promise.all(files.map(file => stat(file)))
  return {
    layers,
    ...(hasMemory && { memory: { suspension: id, size: stats.at(-1)!.size } }),
    size: stats.reduce((sum, { blocks }) => sum + blocks * 512, 0),
  }
}

/** Makes a snapshot of a machine: copies of its disk and its memory. Throws as `SnapshotDriver.create`. */
export const createSnapshot = async (
  machine: Machine,
  wanted: NewSnapshot,
  writeSnapshots: (id: string, tree: SnapshotTree) => Promise<void>,
  deadline: AbortSignal,
): Promise<MachineView> => {
  const view = machine.view()
  const { id: machineId, home, state, definition, snapshots: tree } = view
  const { id, name, description, schedule, withMemory } = wanted
  assertOwnDisk(view, { what: 'Snapshots', advice: 'the clone can have snapshots' })
  const isUp = state === 'running' || state === 'paused'
  try {
    if (isUp) await keepRunning(machine, wanted, deadline)
    else await keepStill(view, id, deadline)
    const files = await describeFiles(view, id, isUp ? withMemory : state === 'suspended')
    deadline.throwIfAborted()
    const snapshot = {
      ...{ id, name, description, definition },
      created_at: new Date().toISOString(),
      state: state as Snapshot['state'],
      ...(schedule !== undefined && { schedule }),
      ...files,
    }
    await writeSnapshots(machineId, addToTree(tree, snapshot))
    return machine.view()
  } catch (error) {
    // What cannot be deleted now is deleted at the next start of the service.
    await deleteUnlistedFiles(home, machine.view().snapshots).catch(() => {})
    throw await explainFileError(error, home)
  }
}
