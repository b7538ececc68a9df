import * as z from 'zod'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store, Stored } from '#lib/storage/store.ts'
import { SnapshotSchedule } from './schemas.ts'

export const StoredSchedule = SnapshotSchedule.omit({ set_by: true, next_at: true }).extend({
  id: z.uuid(),
  /** The id of the machine. */
  machine: z.uuid(),
  /** Who has set it. It runs with the present rights of this user, or of the API key. */
  set_by: z.object({ id: z.string(), username: z.string(), api_key: z.string().optional() }),
  /** The next run. The id of its snapshot is known before, so a run that a kill has interrupted makes no second one. */
  next: z.object({ at: z.string(), snapshot: z.uuid() }),
})
export type StoredSchedule = z.infer<typeof StoredSchedule>
export type ScheduleRecord = StoredSchedule & Stored

/** The most schedules of a machine. */
const maxSchedules = 16

/** The documents of schedules, in memory and in the store. A change is visible when it is durable. */
export interface ScheduleRecords {
  /** All schedules, ordered by name. */
  list(): readonly ScheduleRecord[]
  listOf(machine: string): readonly ScheduleRecord[]
  /** Finds a schedule of a machine by its name, in any case. Throws `not-found`. */
  find(machine: string, name: string): ScheduleRecord
  /**
   * Adds a schedule, or replaces that of the same name in any case, and publishes the schedules of its machine. Throws `conflict`
   * for one too many.
   */
  set(schedule: Omit<StoredSchedule, 'id'>): Promise<ScheduleRecord>
  /** Stores how a run has ended. Does nothing for a schedule that was changed or removed meanwhile. */
  update(before: ScheduleRecord, after: ScheduleRecord): Promise<void>
  remove(schedule: ScheduleRecord): Promise<void>
}

/** Returns a schedule as replies and events have it. */
export const viewSchedule = (record: ScheduleRecord): SnapshotSchedule => {
  const { id: _, rev: __, machine: ___, next, set_by, ...schedule } = record
  return { ...schedule, set_by: set_by.username, next_at: next.at }
}

/** Opens the documents of schedules in a store. */
export const openScheduleRecords = async (store: Store, publish: Publish): Promise<ScheduleRecords> => {
  const schedules = store.collection('snapshot-schedules', StoredSchedule, {
    unique: { name: ({ machine, name }) => `${machine} ${name.toLowerCase()}` },
  })
  const byId = new Map((await schedules.list()).map(schedule => [schedule.id, schedule]))
  const list = (): readonly ScheduleRecord[] => [...byId.values()].toSorted((a, b) => a.name.localeCompare(b.name))
  const listOf = (machine: string): readonly ScheduleRecord[] => list().filter(one => one.machine === machine)
  const findByName = (machine: string, name: string): ScheduleRecord | undefined =>
    listOf(machine).find(one => one.name.toLowerCase() === name.toLowerCase())
  const publishOf = (machine: string, present: readonly ScheduleRecord[]) =>
    publish({
      type: 'pdfm',
      message: 'VM_SNAPSHOT_SCHEDULES_UPDATED',
      body: { vm_id: machine, schedules: present.map(viewSchedule) },
      audience: { claims: ['LIST_SNAPSHOT_VM'] },
    })
  const withLock = createKeyedMutex()
  const put = async (schedule: StoredSchedule & { readonly rev?: number }): Promise<ScheduleRecord> => {
    const stored = { ...schedule, rev: (schedule.rev ?? 0) + 1 }
    const others = listOf(schedule.machine).filter(({ id }) => id !== schedule.id)
    await store.commit([schedules.put(schedule), publishOf(schedule.machine, [...others, stored])])
    byId.set(stored.id, stored)
    return stored
  }

  return {
    list,
    listOf,
    find(machine, name) {
      const found = findByName(machine, name)
      if (found) return found
      throw new ServiceError('not-found', `The machine has no schedule of snapshots with the name ${name}.`)
    },
    set: schedule =>
      withLock(schedule.machine, () => {
        const found = findByName(schedule.machine, schedule.name)
        if (!found && listOf(schedule.machine).length >= maxSchedules)
          throw new ServiceError(
            'conflict',
            `The machine has ${maxSchedules} schedules of snapshots, which is the limit. Delete one of them.`,
          )
        // The snapshots of the schedule have its name as it was written first.
        const { id = crypto.randomUUID(), name = schedule.name, rev } = found ?? {}
        return put({ ...schedule, id, name, ...(rev !== undefined && { rev }) })
      }),
    update: (before, after) =>
      withLock(before.machine, async () => {
        if (byId.get(before.id)?.rev !== before.rev) return
        // An event for each run would say nothing that the event of its snapshot does not say.
        if (before.problem !== after.problem) return void (await put(after))
        await store.commit([schedules.put(after)])
        byId.set(after.id, { ...after, rev: after.rev + 1 })
      }),
    remove: ({ id, machine }) =>
      withLock(machine, async () => {
        const others = listOf(machine).filter(one => one.id !== id)
        await store.commit([schedules.remove({ id }), publishOf(machine, others)], { essential: true })
        byId.delete(id)
      }),
  }
}
