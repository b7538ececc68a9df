import type { SnapshotTree } from '../../snapshot.ts'

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
