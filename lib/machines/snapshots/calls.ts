import type { Principal } from '#lib/access/principal.ts'
import { noProgress, type ProgressReporter } from '#lib/async/progress.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { MachineContext } from '../context.ts'
import type { Action, OperationKind } from '../states.ts'
import { assertMayUseSnapshots, type SnapshotRight } from './access.ts'
import { assertNameFree, findSnapshot, findSnapshotAt, generateName, getTree, requireSnapshots } from './find.ts'
import { assertWithinQuota, type SnapshotQuota } from './quota.ts'
import { buildTree, listDescendants, listRecords, toSnapshotRecord } from './records.ts'
import type { CreatedSnapshot, CreateSnapshot, SnapshotNode, SnapshotRecord, UpdateSnapshot } from './schemas.ts'

/** Who calls, and how long the call may wait for a busy machine. */
interface SnapshotCall {
  readonly caller: Principal
  readonly progress?: ProgressReporter
}

/**
 * The snapshots of machines. Each call throws `not-found`, `forbidden` unless the caller has the claim for it, `unsupported` for a
 * driver without snapshots, and `conflict` for an invalid or busy machine.
 */
export interface SnapshotCalls {
  /** What the snapshots of one machine may take. */
  readonly snapshotQuota: SnapshotQuota
  /** Returns the machine if the caller may do all this with its snapshots. */
  authorizeSnapshots(reference: string, rights: readonly SnapshotRight[], caller: Principal): MachineView
  /** Returns the snapshots of a machine: the oldest first, or as trees. */
  listSnapshots(reference: string, options: SnapshotCall & { readonly asTree: boolean }): SnapshotNode[]
  showSnapshot(reference: string, snapshot: string, options: SnapshotCall): SnapshotRecord
  /**
   * Makes a snapshot (see `SnapshotDriver.create`). The id of the job becomes that of the snapshot, so a job that is resumed after a
   * kill finds what it has made. `schedule` is the name of the schedule that makes it. Throws `conflict` for a name in use, and as
   * `assertWithinQuota`.
   */
  createSnapshot(
    reference: string,
    request: CreateSnapshot,
    options: SnapshotCall & { readonly schedule?: string },
  ): Promise<CreatedSnapshot>
  /** Changes the name or the description of a snapshot. Throws `conflict` for a name in use. */
  updateSnapshot(
    reference: string,
    snapshot: string,
    change: UpdateSnapshot,
    options: SnapshotCall,
  ): Promise<SnapshotRecord>
  /** Gives a machine the state of a snapshot (see `SnapshotDriver.revert`). */
  revertToSnapshot(
    reference: string,
    snapshot: string,
    options: SnapshotCall & { readonly skipResume: boolean },
  ): Promise<SnapshotRecord>
  /** Deletes a snapshot, and with `withChildren` all that were made on top of it. Returns the number of deleted ones. */
  deleteSnapshot(
    reference: string,
    snapshot: string,
    options: SnapshotCall & { readonly withChildren: boolean },
  ): Promise<number>
  /** Deletes all snapshots of a machine. Returns their number. */
  deleteSnapshots(reference: string, options: SnapshotCall): Promise<number>
}

interface Options {
  readonly context: MachineContext
  readonly quota: SnapshotQuota
  /** Settles as the call does, but after its events are stored. */
  readonly afterEvents: <T>(call: PromiseLike<T>) => Promise<T>
}

export const createSnapshotCalls = ({ context, quota, afterEvents }: Options): SnapshotCalls => {
  const { driver, inventory } = context
  const findMachine = (reference: string, { caller }: SnapshotCall, right: SnapshotRight): MachineView => {
    const view = inventory.find(reference)
    assertMayUseSnapshots(caller, view, right)
    return view
  }
  const change = async (
    view: MachineView,
    action: Extract<Action, OperationKind>,
    { caller, progress = noProgress }: SnapshotCall,
    right: SnapshotRight,
    work: (view: MachineView, deadline: AbortSignal) => Promise<MachineView>,
  ): Promise<void> => {
    const changing = context.runOperation({
      view,
      action,
      // Each change is one of its own, so a second call never joins the first.
      key: `${action} ${crypto.randomUUID()}`,
      chooseKind: () => action,
      progress,
      async work({ view: current }, deadline) {
        // The machine may have another owner since the caller began to wait for it.
        assertMayUseSnapshots(caller, current, right)
        return work(current, deadline)
      },
    })
    await afterEvents(changing)
  }
  const deleteAll = async (
    view: MachineView,
    options: SnapshotCall,
    right: SnapshotRight,
    choose: (current: MachineView) => readonly string[],
  ): Promise<number> => {
    const snapshots = requireSnapshots(driver)
    let count = 0
    await change(view, 'edit snapshots', options, right, async (current, deadline) => {
      const ids = choose(current)
      count = ids.length
      return count === 0 ? current : snapshots.delete(view.id, ids, deadline)
    })
    return count
  }

  return {
    snapshotQuota: quota,
    authorizeSnapshots(reference, rights, caller) {
      const view = inventory.find(reference)
      requireSnapshots(driver)
      for (const right of rights) assertMayUseSnapshots(caller, view, right)
      return view
    },
    listSnapshots(reference, { asTree, ...options }) {
      const tree = getTree(findMachine(reference, options, 'list'))
      return asTree ? buildTree(tree) : listRecords(tree)
    },
    showSnapshot(reference, snapshot, options) {
      const view = findMachine(reference, options, 'list')
      return toSnapshotRecord(findSnapshotAt(view, snapshot), getTree(view).current)
    },
    async createSnapshot(reference, request, { schedule, ...options }) {
      const { snapshot_name, snapshot_description: description, memory: withMemory } = request
      const view = findMachine(reference, options, 'create')
      const snapshots = requireSnapshots(driver)
      const id = options.progress?.id ?? crypto.randomUUID()
      const isMade = ({ snapshots: tree }: MachineView): boolean => tree?.snapshots.some(one => one.id === id) === true
      let name = snapshot_name
      if (!isMade(view))
        await change(view, 'snapshot', options, 'create', async (current, deadline) => {
          if (name !== undefined) assertNameFree(current, name)
          await assertWithinQuota(current, quota, withMemory)
          name ??= generateName(current)
          return snapshots.create(current.id, { id, name, description, withMemory, schedule }, deadline)
        })
      return { snapshot_name: findSnapshot(inventory.find(view.id), id).name, snapshot_id: id }
    },
    async updateSnapshot(reference, snapshot, { snapshot_name: name, snapshot_description: description }, options) {
      const view = findMachine(reference, options, 'create')
      const { id } = findSnapshot(view, snapshot)
      await change(view, 'edit snapshots', options, 'create', async current => {
        findSnapshot(current, id)
        if (name !== undefined) assertNameFree(current, name, id)
        return requireSnapshots(driver).update(view.id, id, { name, description })
      })
      const changed = inventory.find(view.id)
      return toSnapshotRecord(findSnapshot(changed, id), getTree(changed).current)
    },
    async revertToSnapshot(reference, snapshot, { skipResume, ...options }) {
      const view = findMachine(reference, options, 'revert')
      const { id } = findSnapshotAt(view, snapshot)
      await change(view, 'revert', options, 'revert', async (current, deadline) => {
        findSnapshot(current, id)
        return requireSnapshots(driver).revert(view.id, id, { skipResume, deadline })
      })
      const reverted = inventory.find(view.id)
      return toSnapshotRecord(findSnapshot(reverted, id), getTree(reverted).current)
    },
    async deleteSnapshot(reference, snapshot, { withChildren, ...options }) {
      const view = findMachine(reference, options, 'delete')
      const { id } = findSnapshot(view, snapshot)
      return deleteAll(view, options, 'delete', current => {
        findSnapshot(current, id)
        return withChildren ? listDescendants(getTree(current), id) : [id]
      })
    },
    async deleteSnapshots(reference, options) {
      const view = findMachine(reference, options, 'deleteAll')
      return deleteAll(view, options, 'deleteAll', current => getTree(current).snapshots.map(({ id }) => id))
    },
  }
}
