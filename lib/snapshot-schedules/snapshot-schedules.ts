import type { Principal } from '#lib/access/principal.ts'
import type { Every } from '#lib/async/every.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { Store } from '#lib/storage/store.ts'
import { findNextRun } from './next-run.ts'
import { openScheduleRecords, viewSchedule } from './records.ts'
import { createRunner, type RunnerOptions } from './runner.ts'
import type { SnapshotSchedule, SnapshotScheduleRules } from './schemas.ts'

/** The schedules of snapshots of machines. `machine` is an id or a name, in any case. Each call throws `not-found` and `forbidden`. */
export interface SnapshotSchedules {
  list(machine: string, caller: Principal): SnapshotSchedule[]
  /**
   * Adds a schedule, or replaces that of the same name. Throws `conflict` for one too many, and for rules that keep more
   * snapshots than a machine may have.
   */
  set(machine: string, name: string, rules: SnapshotScheduleRules, caller: Principal): Promise<SnapshotSchedule>
  /** Removes a schedule. The snapshots that it has made stay. */
  remove(machine: string, name: string, caller: Principal): Promise<void>
  close(): Promise<void>
}

/** The calls of machines that this folder makes. */
type ScheduledMachines = Pick<
  Machines,
  'authorizeSnapshots' | 'createSnapshot' | 'deleteSnapshot' | 'members' | 'snapshotQuota'
>

interface Options extends Omit<RunnerOptions, 'records' | 'machines'> {
  readonly store: Store
  readonly publish: Publish
  readonly machines: ScheduledMachines
  readonly every: Every
}

/** Milliseconds between two looks for what is due. */
const lookInterval = 1_000

/** Throws `forbidden` for a user of a control, whose rights this host cannot look up when the schedule runs. */
const assertLocal = ({ issuer }: Principal): void => {
  if (issuer === undefined) return
  throw new ServiceError(
    'forbidden',
    'A schedule runs with the present rights of who has set it, and a host cannot look up those of users of its control. Set it at the host, as a user of the host.',
  )
}

/** Throws `conflict` for rules that keep as many snapshots as a machine may have: there is one more while they are applied. */
const assertRoom = ({ keep }: SnapshotScheduleRules, most: number): void => {
  const { last = 0, hourly = 0, daily = 0, weekly = 0 } = keep
  const kept = last + hourly + daily + weekly
  if (kept < most) return
  throw new ServiceError(
    'conflict',
    `The rules keep ${kept} snapshots, and one more exists while they are applied; a machine may have ${most}. Keep fewer.`,
  )
}

/** Opens the schedules of a host, and runs what is due from now on. */
export const openSnapshotSchedules = async (options: Options): Promise<SnapshotSchedules> => {
  const { store, publish, machines, every, ...ports } = options
  const records = await openScheduleRecords(store, publish)
  const runner = createRunner({ records, machines, ...ports })
  const timer = every(lookInterval, runner.runDue)

  return {
    list(machine, caller) {
      const { id } = machines.authorizeSnapshots(machine, ['list'], caller)
      return records.listOf(id).map(viewSchedule)
    },
    async set(machine, name, rules, caller) {
      const { id } = machines.authorizeSnapshots(machine, ['create', 'delete'], caller)
      assertLocal(caller)
      assertRoom(rules, machines.snapshotQuota.count)
      const now = Date.now()
      const { id: user, username, apiKeyId } = caller
      return viewSchedule(
        await records.set({
          ...rules,
          name,
          machine: id,
          set_by: { id: user, username, ...(apiKeyId !== undefined && { api_key: apiKeyId }) },
          set_at: new Date(now).toISOString(),
          next: { at: new Date(findNextRun(rules, now)).toISOString(), snapshot: crypto.randomUUID() },
        }),
      )
    },
    async remove(machine, name, caller) {
      const { id } = machines.authorizeSnapshots(machine, ['create', 'delete'], caller)
      await records.remove(records.find(id, name))
    },
    async close() {
      timer[Symbol.dispose]()
      await runner.close()
    },
  }
}
