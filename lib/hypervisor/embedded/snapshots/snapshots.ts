import { messageOf } from '#lib/errors.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { MachineView } from '../../driver.ts'
import type { MachineFolders, ValidMachine } from '../../files/machine-folders.ts'
import type { SnapshotDriver, SnapshotTree } from '../../snapshot.ts'
import { deleteUnlistedFiles, readSnapshots, snapshotsFile } from '../../snapshots/snapshots-file.ts'
import { viewSnapshot } from '../../snapshots/view-snapshot.ts'
import { removeFromTree, requireSnapshot, updateInTree } from '../../snapshots/tree.ts'
import { type CloneContext, cloneMachine } from '../clone-machine.ts'
import { openMachineDisk } from '../disks/machine-disk.ts'
import { exportEmbeddedMachine } from '../embedded-export.ts'
import type { Machine } from '../machine.ts'
import type { EmulatorProgram } from '../program.ts'
import { createSnapshot } from './create.ts'
import { discardFiles, finishRevert, revertMachine } from './revert.ts'

interface Options {
  readonly folders: MachineFolders
  readonly loadProgram: () => Promise<EmulatorProgram>
  /** What clones and exports need. */
  readonly copying: CloneContext
  readonly requireMachine: (id: string) => Machine
  readonly log: Logger
}

export interface EmbeddedSnapshots extends SnapshotDriver {
  /**
   * Reads the snapshots of a machine at the start of the service, before anything else is done with the machine, and finishes a
   * revert that was interrupted. Returns the machine as it is then. A damaged file is logged; the machine has no snapshots then.
   */
  recover(machine: ValidMachine): Promise<ValidMachine & { readonly snapshots?: SnapshotTree }>
  /** Finishes the revert that a machine is in the middle of, because the host had no space then. Does nothing without one. */
  finishRevert(id: string, deadline: AbortSignal): Promise<void>
}

/** Milliseconds to copy the disk of a revert that is finished at the start of the service. */
const recoveryTimeout = 60_000

/** Creates the snapshots of embedded machines: the port, and the recovery. */
export const createSnapshots = ({ folders, loadProgram, copying, requireMachine, log }: Options): EmbeddedSnapshots => {
  const writeTree = (id: string, tree: SnapshotTree): Promise<void> => folders.writeJson(id, snapshotsFile, tree)
  const writeSnapshots = async (id: string, tree: SnapshotTree): Promise<void> => {
    await writeTree(id, tree)
    requireMachine(id).setSnapshots(tree)
  }
  const context = { folders, loadProgram, writeSnapshots }
  const warn = (id: string, what: string) => (error: unknown) =>
    log.warning('{id}: {what}: {reason}', { id, what, reason: messageOf(error) })

  /** Returns a machine as a revert to the snapshot would leave it. */
  const viewKept = (id: string, snapshot: string): MachineView => {
    const view = requireMachine(id).view()
    return viewSnapshot(view, requireSnapshot(view, snapshot))
  }
  const finish = async (id: string, deadline: AbortSignal): Promise<void> => {
    const machine = requireMachine(id)
    const view = machine.view()
    if (view.snapshots?.reverting === undefined) return
    await machine.replaceFiles(async () => {
      const { definition, snapshot } = await finishRevert(view, view.snapshots!, context, deadline)
      return { definition, state: snapshot.memory ? 'suspended' : 'stopped' }
    })
  }
  return {
    async create(id, snapshot, deadline) {
      const machine = requireMachine(id)
      // A damaged file must not be replaced.
      await readSnapshots(machine.view().home)
      await finish(id, deadline)
      return createSnapshot(machine, snapshot, writeSnapshots, deadline)
    },
    revert: (id, snapshot, options) => revertMachine(requireMachine(id), snapshot, context, options),
    async update(id, snapshot, change) {
      const view = requireMachine(id).view()
      requireSnapshot(view, snapshot)
      await writeSnapshots(id, updateInTree(view.snapshots!, snapshot, change))
      return requireMachine(id).view()
    },
    async delete(id, snapshots, deadline) {
      await finish(id, deadline)
      const view = requireMachine(id).view()
      for (const one of snapshots) requireSnapshot(view, one)
      const tree = removeFromTree(view.snapshots!, snapshots)
      await writeSnapshots(id, tree)
      await deleteUnlistedFiles(view.home, tree).catch(warn(id, 'files of deleted snapshots stay for now'))
      return requireMachine(id).view()
    },
    // Nobody writes to the disk of a snapshot, so it needs no claim.
    async clone(id, snapshot, name, options) {
      const view = viewKept(id, snapshot)
      await using disk = await openMachineDisk(view, copying.hostFiles, 'read')
      return await cloneMachine(view, disk, name, options, copying)
    },
    export: async (id, snapshot, options) => exportEmbeddedMachine(viewKept(id, snapshot), options, copying),
    async recover(machine) {
      const { id, home, definition } = machine
      let tree: SnapshotTree | undefined
      try {
        tree = await readSnapshots(home)
        await deleteUnlistedFiles(home, tree)
        if (tree?.reverting !== undefined) {
          const stopped = { id, name: definition.name, home, definition }
          const finishing = { ...context, writeSnapshots: writeTree }
          return { ...machine, ...(await finishRevert(stopped, tree, finishing, AbortSignal.timeout(recoveryTimeout))) }
        }
        if (tree) await discardFiles(home, tree.snapshots)
      } catch (error) {
        warn(id, tree?.reverting ? 'its revert is finished later' : 'its snapshots cannot be used')(error)
      }
      return { ...machine, ...(tree && { snapshots: tree }) }
    },
    finishRevert: finish,
  }
}
