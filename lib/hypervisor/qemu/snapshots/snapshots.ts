import { messageOf } from '#lib/errors.ts'
import type { Account } from '#lib/platform/processes.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { MachineView } from '../../driver.ts'
import type { MachineFolders, ValidMachine } from '../../files/machine-folders.ts'
import type { SnapshotDriver, SnapshotTree } from '../../snapshot.ts'
import { deleteUnlistedFiles, readSnapshots, snapshotsFile } from '../../snapshots/snapshots-file.ts'
import { removeFromTree, requireSnapshot, updateInTree } from '../../snapshots/tree.ts'
import { type CloneContext, cloneMachine } from '../clone-machine.ts'
import type { Images } from '../images.ts'
import type { QemuMachine } from '../machine.ts'
import { createJournal } from '../operation-journal.ts'
import { findLivingPid, waitForExit } from '../pid.ts'
import { exportQemuMachine } from '../qemu-export.ts'
import { createSnapshot } from './create.ts'
import { finishRevert, revertMachine } from './revert.ts'

interface Options {
  readonly folders: MachineFolders
  readonly images: Images
  readonly account: Account | undefined
  /** What clones and exports need. */
  readonly copying: CloneContext
  readonly requireMachine: (id: string) => QemuMachine
  readonly log: Logger
}

export interface QemuSnapshots extends SnapshotDriver {
  /**
   * Reads the snapshots of a machine at the start of the service, before anything else is done with the machine, and finishes a
   * revert that was interrupted. Returns the machine as it is then. A damaged journal is logged; the machine has no snapshots then.
   */
  recover(machine: ValidMachine): Promise<ValidMachine & { readonly snapshots?: SnapshotTree }>
  /** Finishes the revert that a machine is in the middle of, because the host had no space then. Does nothing without one. */
  finishRevert(id: string, deadline: AbortSignal): Promise<void>
}

/** Creates the snapshots of QEMU machines: the port, and the recovery. */
export const createSnapshots = ({ folders, images, account, copying, requireMachine, log }: Options): QemuSnapshots => {
  const { sources } = copying
  const writeTree = ({ id }: Pick<MachineView, 'id'>, tree: SnapshotTree): Promise<void> =>
    folders.writeJson(id, snapshotsFile, tree)
  const writeSnapshots = async (view: Pick<MachineView, 'id'>, tree: SnapshotTree): Promise<void> => {
    await writeTree(view, tree)
    requireMachine(view.id).setSnapshots(tree)
  }
  const reverting = { images, writeDefinition: folders.writeDefinition, writeSnapshots }
  const ignoreProgress = (): void => {}
  const finish = async (id: string, deadline: AbortSignal): Promise<void> => {
    const machine = requireMachine(id)
    if (machine.view().snapshots?.reverting === undefined) return
    await machine.operate(deadline, async ({ machine: state, journal }) => {
      const view = state.view()
      const { definition } = await finishRevert(view, view.snapshots!, journal, reverting)
      machine.setDefinition(definition)
      const persisted = await journal.readState()
      state.setView(state.viewIn(persisted?.state ?? 'stopped', { booted: true }))
    })
  }

  return {
    async create(id, snapshot, deadline) {
      const machine = requireMachine(id)
      // A damaged journal must not be replaced.
      await readSnapshots(machine.view().home)
      await finish(id, deadline)
      const freeze = (view: MachineView, disk: string): Promise<string> =>
        sources.freeze(view, disk, { signal: deadline, onProgress: ignoreProgress, keepsLayers: true })
      const { makeRoom } = sources
      return createSnapshot(machine, snapshot, { images, account, freeze, makeRoom, writeSnapshots }, deadline)
    },
    revert: (id, snapshot, options) => revertMachine(requireMachine(id), snapshot, reverting, options),
    async update(id, snapshot, change) {
      const view = requireMachine(id).view()
      requireSnapshot(view, snapshot)
      await writeSnapshots(view, updateInTree(view.snapshots!, snapshot, change))
      return requireMachine(id).view()
    },
    async delete(id, snapshots, deadline) {
      await finish(id, deadline)
      const machine = requireMachine(id)
      for (const one of snapshots) requireSnapshot(machine.view(), one)
      const tree = removeFromTree(machine.view().snapshots!, snapshots)
      await writeSnapshots(machine.view(), tree)
      await deleteUnlistedFiles(machine.view().home, tree).catch(error =>
        log.warning('{id}: files of deleted snapshots stay for now: {reason}', { id, reason: messageOf(error) }),
      )
      await sources.onSnapshotsDeleted(machine.view(), deadline)
      return machine.view()
    },
    async clone(id, snapshot, name, options) {
      const machine = requireMachine(id)
      return cloneMachine(machine, name, options, copying, requireSnapshot(machine.view(), snapshot))
    },
    async export(id, snapshot, options) {
      const view = requireMachine(id).view()
      return exportQemuMachine(view, options, copying, requireSnapshot(view, snapshot))
    },
    async recover(machine) {
      const { id, home, definition } = machine
      let tree: SnapshotTree | undefined
      try {
        tree = await readSnapshots(home)
        await deleteUnlistedFiles(home, tree)
        if (tree?.reverting === undefined) return { ...machine, ...(tree && { snapshots: tree }) }
        const pid = await findLivingPid(home, id)
        if (pid !== undefined) await waitForExit(pid, id, 0)
        const view = { id, name: definition.name, home, definition }
        const reverted = await finishRevert(view, tree, createJournal(folders, id), {
          ...reverting,
          writeSnapshots: writeTree,
        })
        return { ...machine, ...reverted }
      } catch (error) {
        const what = tree?.reverting ? 'its revert is finished later' : 'its snapshots cannot be used'
        log.error('{id}: {what}: {reason}', { id, what, reason: messageOf(error) })
        // With the tree the next operation knows of the revert.
        return { ...machine, ...(tree && { snapshots: tree }) }
      }
    },
    finishRevert: finish,
  }
}
