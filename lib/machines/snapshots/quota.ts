import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { formatByteSize } from '#lib/byte-size.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { getTree } from './find.ts'

/** What the snapshots of one machine may take of the host. */
export interface SnapshotQuota {
  /** The most snapshots. */
  readonly count: number
  /** The most bytes; undefined for no limit. */
  readonly bytes?: number | undefined
}

/** Each snapshot is a layer that the disks of its machine may be read through. */
export const mostSnapshots = 64
export const defaultQuota: SnapshotQuota = { count: mostSnapshots }

/** Returns the bytes that files of a machine's folder take on the disk. One that is gone takes none. */
const measureFiles = async (home: string, names: Iterable<string>): Promise<number> => {
  const sizes = await Promise.all(
    [...new Set(names)].map(name =>
      stat(join(home, name)).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Returns the bytes that all snapshots of a machine take. Snapshots that share an image take it once. */
const measureSnapshots = async (view: MachineView): Promise<number> => {
  const { snapshots } = getTree(view)
  const memory = snapshots.reduce((sum, one) => sum + (one.memory?.size ?? 0), 0)
  return (
    memory +
    (await measureFiles(
      view.home,
      snapshots.flatMap(({ layers }) => Object.values(layers)),
    ))
  )
}

/** Returns the most bytes that one more snapshot takes: what the disks have of their own now, and the memory. */
const measureNext = async ({ home, state, definition }: MachineView, withMemory: boolean): Promise<number> => {
  const own = definition.disks.map(({ path }) => path).filter(path => !isAbsolute(path))
  const hasMemory = state === 'suspended' || (withMemory && state !== 'stopped')
  return (hasMemory ? definition.memory * 2 ** 20 : 0) + (await measureFiles(home, own))
}

/** Throws `conflict` if a machine may not have one more snapshot, and says which one to delete. */
export const assertWithinQuota = async (
  view: MachineView,
  { count, bytes }: SnapshotQuota,
  withMemory: boolean,
): Promise<void> => {
  const { name } = view
  const { snapshots } = getTree(view)
  const refuse = (why: string): never => {
    throw new ServiceError('conflict', `${name} cannot have one more snapshot: ${why}.`)
  }
  if (snapshots.length >= count)
    refuse(
      count === 0
        ? 'the setting snapshot_max_count allows none'
        : `it has ${snapshots.length}, and the setting snapshot_max_count allows ${count}. Delete one first; the oldest is ${snapshots[0]?.name}`,
    )
  if (bytes === undefined) return
  const [taken, next] = [await measureSnapshots(view), await measureNext(view, withMemory)]
  if (taken + next <= bytes) return
  const largest = snapshots.toSorted((a, b) => b.size - a.size)[0]
  const advice = largest ? `Delete one first; the largest is ${largest.name}` : 'The limit is for a smaller machine'
  refuse(
    `it may take ${formatByteSize(next)} beside the ${formatByteSize(taken)} of those it has, and the setting snapshot_max_size allows ${formatByteSize(bytes)}. ${advice}`,
  )
}
