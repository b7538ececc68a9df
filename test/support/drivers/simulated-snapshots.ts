import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Snapshot, SnapshotDriver, SnapshotTree } from '#lib/hypervisor/snapshot.ts'
import type { SimulatedDriver } from './simulated-driver.ts'

/** Adds snapshots without content to a simulated driver. `beforeCreate` is waited for before each one is made. */
export const withSnapshots = (
  driver: SimulatedDriver,
  beforeCreate: (deadline: AbortSignal) => Promise<void> = async () => {},
): HypervisorDriver => {
  const change = async (id: string, next: (tree: SnapshotTree) => SnapshotTree): Promise<MachineView> => {
    const view = (await driver.get(id))!
    const changed = { ...view, snapshots: next(view.snapshots ?? { snapshots: [] }) }
    driver.simulateView(changed)
    return changed
  }
  const refuse = async (): Promise<never> => {
    throw new Error('The simulated driver does not copy snapshots.')
  }
  const snapshots: SnapshotDriver = {
    async create(id, { withMemory, ...wanted }, deadline) {
      await beforeCreate(deadline)
      const { state, definition } = (await driver.get(id))!
      const size = definition.memory * 2 ** 20
      return change(id, ({ snapshots: before, current }) => {
        const snapshot: Snapshot = {
          ...{ ...wanted, definition, layers: {}, state: state as Snapshot['state'] },
          ...(withMemory && state !== 'stopped' && { memory: { suspension: crypto.randomUUID(), size } }),
          ...(current !== undefined && { parent: current }),
          created_at: new Date().toISOString(),
          size,
        }
        return { snapshots: [...before, snapshot], current: wanted.id }
      })
    },
    revert: (id, current) => change(id, tree => ({ ...tree, current })),
    update: (id, one, { name, description }) =>
      change(id, tree => ({
        ...tree,
        snapshots: tree.snapshots.map(snapshot =>
          snapshot.id === one
            ? { ...snapshot, name: name ?? snapshot.name, description: description ?? snapshot.description }
            : snapshot,
        ),
      })),
    delete: (id, ids) =>
      change(id, tree => ({ ...tree, snapshots: tree.snapshots.filter(one => !ids.includes(one.id)) })),
    clone: refuse,
    export: refuse,
  }
  return { ...driver, snapshots }
}
