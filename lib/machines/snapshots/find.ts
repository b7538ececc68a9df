import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { Snapshot, SnapshotDriver, SnapshotTree } from '#lib/hypervisor/snapshot.ts'
import { assertMayUseSnapshots } from './access.ts'
import { parseMoment } from './moment.ts'

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

/**
 * Returns the snapshot that a reference names: its UUID or name, in any case, or `@` and a moment for the newest one that was made
 * until then. Throws `not-found`, and `invalid` for a moment that there is not.
 */
export const findSnapshotAt = (view: Pick<MachineView, 'name' | 'snapshots'>, reference: string): Snapshot => {
  const moment = parseMoment(reference)
  if (moment === undefined) return findSnapshot(view, reference)
  const byAge = getTree(view).snapshots.toSorted((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
  const found = byAge.findLast(({ created_at }) => Date.parse(created_at) <= moment)
  if (found) return found
  const oldest = byAge[0] ? `the oldest is of ${byAge[0].created_at}` : 'it has none'
  throw new ServiceError(
    'not-found',
    `${view.name} has no snapshot that was made until ${new Date(moment).toISOString()}; ${oldest}.`,
  )
}

/**
 * Returns a snapshot whose disks somebody wants to copy; nobody in particular when left out. Throws as `findSnapshotAt`, `unsupported`
 * for a driver without snapshots, and `forbidden` for a caller who may not list the snapshots of the machine.
 */
export const findReadableSnapshot = (
  { driver }: { readonly driver: HypervisorDriver },
  view: MachineView,
  reference: string,
  caller: Principal | undefined,
): Snapshot => {
  requireSnapshots(driver)
  if (caller) assertMayUseSnapshots(caller, view, 'list')
  return findSnapshotAt(view, reference)
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
