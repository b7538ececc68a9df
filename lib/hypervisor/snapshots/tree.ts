import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '../driver.ts'
import type { Snapshot, SnapshotTree } from '../snapshot.ts'

/** Returns a snapshot of a machine. Throws `not-found`. */
export const requireSnapshot = ({ name, snapshots }: Pick<MachineView, 'name' | 'snapshots'>, id: string): Snapshot => {
  const snapshot = snapshots?.snapshots.find(one => one.id === id)
  if (snapshot) return snapshot
  throw new ServiceError('not-found', `${name} has no snapshot ${id}.`)
}

/** Adds a snapshot to a tree, which may not exist yet. The machine is on it then. */
export const addToTree = (tree: SnapshotTree | undefined, snapshot: Omit<Snapshot, 'parent'>): SnapshotTree => ({
  snapshots: [
    ...(tree?.snapshots ?? []),
    { ...snapshot, ...(tree?.current !== undefined && { parent: tree.current }) },
  ],
  current: snapshot.id,
})

/** Changes the name or the description of a snapshot. */
export const updateInTree = (
  tree: SnapshotTree,
  id: string,
  { name, description }: { readonly name?: string | undefined; readonly description?: string | undefined },
): SnapshotTree => ({
  ...tree,
  snapshots: tree.snapshots.map(one => ({
    ...one,
    ...(one.id === id && name !== undefined && { name }),
    ...(one.id === id && description !== undefined && { description }),
  })),
})

/** Removes snapshots from a tree. What had one of them as its parent gets the nearest ancestor that stays. */
export const removeFromTree = (tree: SnapshotTree, removed: readonly string[]): SnapshotTree => {
  const gone = new Set(removed)
  const parents = new Map(tree.snapshots.map(({ id, parent }) => [id, parent]))
  const findAncestor = (id: string | undefined): string | undefined =>
    id !== undefined && gone.has(id) ? findAncestor(parents.get(id)) : id
  const current = findAncestor(tree.current)
  return {
    snapshots: tree.snapshots
      .filter(({ id }) => !gone.has(id))
      .map(({ parent: before, ...snapshot }) => {
        const parent = findAncestor(before)
        return { ...snapshot, ...(parent !== undefined && { parent }) }
      }),
    ...(current !== undefined && { current }),
  }
}
