import type { Principal } from '#lib/access/principal.ts'
import { noProgress } from '#lib/async/progress.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { chooseSuperfluous } from './choose-superfluous.ts'
import type { ScheduleRecord } from './records.ts'

/** The calls of machines that schedules make. */
export type ScheduledMachines = Pick<Machines, 'createSnapshot' | 'deleteSnapshot' | 'authorizeSnapshots'>

/** A change that a schedule has made or tried, for the audit. */
export interface ScheduledChange {
  readonly caller: Principal
  /** The id of the run. */
  readonly run: string
  readonly operation: 'machines/create-snapshot' | 'machines/delete-snapshot'
  readonly method: 'POST' | 'DELETE'
  /** The parameters of the path. */
  readonly target: Readonly<Record<string, string>>
  readonly details: Readonly<Record<string, unknown>>
  /** Why it has failed; undefined if it was done. */
  readonly error?: unknown
}

export interface RunOptions {
  readonly machines: ScheduledMachines
  /** Records a change in the audit. */
  readonly record: (change: ScheduledChange) => Promise<void>
  readonly signal: AbortSignal
}

/** Milliseconds that a run waits for a machine that is busy. */
const busyTimeout = 10 * 60_000

/** True if the machine has not run since its newest snapshot, so another one would be the same. */
const isUnchanged = ({ state, since, snapshots }: MachineView, { memory }: ScheduleRecord): boolean => {
  const current = snapshots?.snapshots.find(({ id }) => id === snapshots.current)
  const isIdle = state === 'stopped' || state === 'suspended'
  return isIdle && current !== undefined && since <= Date.parse(current.created_at) && (!memory || !!current.memory)
}

/** Returns the name of a snapshot that is made now. */
const generateName = (schedule: string): string => `${schedule} ${new Date().toISOString().slice(0, 19)}Z`

/**
 * Makes the snapshot of a schedule and deletes those that its rules do not keep, with the rights of `caller`, which are checked for
 * each call. Throws what these calls throw. After a kill it may be called again: the snapshot of a run is made once.
 */
export const runSchedule = async (
  schedule: ScheduleRecord,
  caller: Principal,
  { machines, record, signal }: RunOptions,
): Promise<void> => {
  const { machine, name, memory, next } = schedule
  const progress = { ...noProgress, signal, waitLimit: { milliseconds: busyTimeout } }
  const audited = async (
    change: Omit<ScheduledChange, 'caller' | 'run'>,
    work: () => Promise<unknown>,
  ): Promise<void> => {
    const entry = { caller, run: next.snapshot, ...change }
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) await record({ ...entry, error })
      throw error
    }
    await record(entry)
  }
  const isMade = (view: MachineView): boolean =>
    view.snapshots?.snapshots.some(({ id }) => id === next.snapshot) === true

  const view = machines.authorizeSnapshots(machine, ['create', 'delete'], caller)
  if (!isMade(view) && !isUnchanged(view, schedule)) {
    const request = { snapshot_name: generateName(name), snapshot_description: '', memory }
    await audited(
      {
        ...{ operation: 'machines/create-snapshot', method: 'POST' },
        ...{ target: { id: machine }, details: { snapshot_name: request.snapshot_name, memory, schedule: name } },
      },
      () =>
        machines.createSnapshot(machine, request, {
          ...{ caller, schedule: name, progress: { ...progress, id: next.snapshot } },
        }),
    )
  }
  const { snapshots } = machines.authorizeSnapshots(machine, ['delete'], caller)
  const own = (snapshots?.snapshots ?? []).filter(one => one.schedule === name)
  for (const id of chooseSuperfluous(own, schedule))
    await audited(
      {
        ...{ operation: 'machines/delete-snapshot', method: 'DELETE' },
        ...{ target: { id: machine, snapshot: id }, details: { schedule: name } },
      },
      () => machines.deleteSnapshot(machine, id, { caller, progress, withChildren: false }),
    )
}
