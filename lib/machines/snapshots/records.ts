import type { Snapshot, SnapshotTree } from '#lib/hypervisor/snapshot.ts'
import type { SnapshotNode, SnapshotRecord } from './schemas.ts'

const states = { running: 'poweron', paused: 'pause', suspended: 'suspend', stopped: 'poweroff' } as const

/** Returns a snapshot as replies have it. */
export const toSnapshotRecord = (snapshot: Snapshot, current: string | undefined): SnapshotRecord => {
  const { id, name, description, created_at, state, memory, parent = '', size, schedule } = snapshot
  return {
    ...{ id, name, description, created_at, parent, size },
    date: created_at.slice(0, 19).replace('T', ' '),
    state: memory ? states[state] : 'poweroff',
    current: id === current,
    ...(schedule !== undefined && { schedule }),
  }
}

/** Returns the snapshots of a machine, the oldest first. */
export const listRecords = ({ snapshots, current }: SnapshotTree): SnapshotRecord[] =>
  snapshots.map(snapshot => toSnapshotRecord(snapshot, current))

/** Returns the snapshots of a machine as a tree. */
export const buildTree = (tree: SnapshotTree): SnapshotNode[] => {
  const children = Map.groupBy(listRecords(tree), ({ parent }) => parent)
  const buildNodes = (parent: string): SnapshotNode[] =>
    (children.get(parent) ?? []).map(record => {
      const nodes = buildNodes(record.id)
      return nodes.length === 0 ? record : { ...record, children: nodes }
    })
  return buildNodes('')
}

/** Returns the ids of a snapshot and of all that were made on top of it. */
export const listDescendants = ({ snapshots }: SnapshotTree, id: string): readonly string[] => [
  id,
  ...snapshots.filter(({ parent }) => parent === id).flatMap(child => listDescendants({ snapshots }, child.id)),
]
