import * as z from 'zod'
import { Definition } from './definition.ts'
import type { ExportedMachine, HypervisorDriver, MachineView } from './driver.ts'

/** The name of a file in the machine's folder, which leads nowhere else. */
const FileName = z.string().regex(/^(?!\.{0,2}$)[^/\0]+$/, 'is no name of a file')

/** A snapshot of a machine, as a driver stores it in the machine's folder. */
export const Snapshot = z.object({
  id: z.uuid(),
  /** Unique among the snapshots of the machine, in any case. */
  name: z.string().min(1),
  description: z.string(),
  created_at: z.string(),
  /** The state of the machine when the snapshot was made. */
  state: z.enum(['stopped', 'running', 'paused', 'suspended']),
  /** The snapshot that the machine was on. The first snapshot has none. */
  parent: z.uuid().optional(),
  /** The machine as it was. */
  definition: Definition,
  /** The read-only image of each disk, by the file of the disk in the definition. Both are in the machine's folder. */
  layers: z.record(FileName, FileName),
  /** Identifies the file with the memory of the guest. A snapshot without it starts as after a power cut. */
  memory: z.object({ suspension: z.uuid(), size: z.int().positive() }).optional(),
  /** Bytes that the snapshot took of the host when it was made: what its disks had of their own, and its memory. */
  size: z.int().nonnegative(),
  /** The name of the schedule that has made it. Its rules may delete it. */
  schedule: z.string().optional(),
})
export type Snapshot = z.infer<typeof Snapshot>

/** True if each parent stands before its children, so that the way up from a snapshot ends. */
const areParentsFirst = (snapshots: readonly Snapshot[]): boolean => {
  const seen = new Set<string>()
  return snapshots.every(({ id, parent }) => {
    const isPlaced = (parent === undefined || seen.has(parent)) && !seen.has(id)
    seen.add(id)
    return isPlaced
  })
}

/** The snapshots of a machine, oldest first. Their parents make them a tree. */
export const SnapshotTree = z.object({
  snapshots: z.array(Snapshot).refine(areParentsFirst, 'a parent must stand before its children, and an id only once'),
  /** The snapshot that the machine was last on: the parent of the next one. */
  current: z.uuid().optional(),
  /** The snapshot of a revert that has begun and is not complete. */
  reverting: z.uuid().optional(),
})
export type SnapshotTree = z.infer<typeof SnapshotTree>

export interface NewSnapshot {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Whether the memory of a running or paused guest is saved too. */
  readonly withMemory: boolean
  /** The name of the schedule that makes it. */
  readonly schedule?: string | undefined
}

/**
 * The port for snapshots, which a driver may have (`HypervisorDriver.snapshots`). The snapshots of a machine are in its view. The
 * rules of `HypervisorDriver` hold: one call per machine at a time, each returns the new view, and the driver completes or rolls
 * back at `open` what a killed service left. The contract suite is test/contracts/snapshots.ts.
 */
export interface SnapshotDriver {
  /**
   * Makes a snapshot of a machine in any state but `invalid`. The machine has the same state afterwards; a running guest pauses
   * meanwhile. Throws `unsupported` for a machine with a disk that cannot have snapshots, `conflict` for memory that cannot be
   * saved, and `no-space`.
   */
  create(id: string, snapshot: NewSnapshot, deadline: AbortSignal): Promise<MachineView>
  /**
   * Gives a machine the disks, the hardware and the memory of a snapshot. What the machine is now is dropped. With memory it then has
   * the state that it had, or with `skipResume` it is suspended; without memory it is stopped. The name, the owner and what the
   * service alone does with the machine stay. Disks that came later are detached.
   */
  revert(
    id: string,
    snapshot: string,
    options: { readonly skipResume: boolean; readonly deadline: AbortSignal },
  ): Promise<MachineView>
  /** Changes the name or the description of a snapshot. */
  update(
    id: string,
    snapshot: string,
    change: { readonly name?: string | undefined; readonly description?: string | undefined },
  ): Promise<MachineView>
  /** Deletes snapshots. Their children become those of the nearest ancestor that stays. The machine does not change. */
  delete(id: string, snapshots: readonly string[], deadline: AbortSignal): Promise<MachineView>
  /**
   * Clones a machine as a revert to the snapshot would leave it, without memory: the clone is stopped. Other calls that only read the
   * machine may run beside it, and the machine may run. Throws as `HypervisorDriver.clone`.
   */
  clone(
    id: string,
    snapshot: string,
    name: string,
    options: Parameters<HypervisorDriver['clone']>[2],
  ): Promise<MachineView>
  /** Exports a machine as a revert to the snapshot would leave it, without memory, as `HypervisorDriver.export` does. */
  export(id: string, snapshot: string, options: Parameters<HypervisorDriver['export']>[1]): Promise<ExportedMachine>
}
