import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Snapshot, SnapshotDriver, SnapshotTree } from '#lib/hypervisor/snapshot.ts'

/** The most snapshots of a machine. Each one is a layer that the disks of the machine may be read through. */
export const maxSnapshots = 64

/** Returns the snapshots of a driver. Throws `unsupported` for a driver without them. */
export const requireSnapshots = ({ kind, snapshots }: HypervisorDriver): SnapshotDriver => {
  if (snapshots) return snapshots
  throw new ServiceError('unsupported', `Snapshots are unsupported by the ${kind} driver.`)
}

/** Returns the snapshots of a machine, which may have none. */
export const getTree = ({ snapshots = { snapshots: [] } }: Pick<MachineView, 'snapshots'>): SnapshotTree => snapshots

/** Returns the snapshot of a machine with this UUID or name, in any case. Throws `not-found`. */
export const findSnapshot = (view: Pick<MachineView, 'name' | 'snapshots'>, reference: string): Snapshot => {
  const key = reference.toLowerCase()
  const { snapshots } = getTree(view)
  const found = snapshots.find(({ id }) => id === key) ?? snapshots.find(({ name }) => name.toLowerCase() === key)
  if (found) return found
  throw new ServiceError('not-found', `${view.name} has no snapshot with the id or name ${reference}.`)
}

/** Throws `conflict` if a snapshot of the machine other than the one with this id has the name. */
export const assertNameFree = (view: Pick<MachineView, 'name' | 'snapshots'>, name: string, id?: string): void => {
  const other = getTree(view).snapshots.find(one => one.id !== id && one.name.toLowerCase() === name.toLowerCase())
  if (other) throw new ServiceError('conflict', `${view.name} has a snapshot ${other.name}. Choose another name.`)
}

/** Returns the first free name: `Snapshot 1`, … */
export const generateName = (view: Pick<MachineView, 'snapshots'>): string => {
  const names = new Set(getTree(view).snapshots.map(({ name }) => name.toLowerCase()))
  let number = 1
  while (names.has(`snapshot ${number}`)) number += 1
  return `Snapshot ${number}`
}
