import type { Principal } from '#lib/access/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { findNextRun } from './next-run.ts'
import type { ScheduleRecord, ScheduleRecords } from './records.ts'
import { type RunOptions, runSchedule, type ScheduledMachines } from './run-schedule.ts'

/** Milliseconds after which the schedules of a machine that is missing on end go. Its folder may be restored later than the store. */
const missingTime = 24 * 3_600_000

/** Runs schedules that are due, one at a time for each machine. */
export interface Runner {
  /** Starts what is due. A run that was missed, by whatever number, is made up once. */
  runDue(): void
  /** Cancels the runs under way, which the next start of the service makes up, and waits for their end. */
  close(): Promise<void>
}

export interface RunnerOptions extends Omit<RunOptions, 'signal' | 'machines'> {
  readonly records: ScheduleRecords
  readonly machines: ScheduledMachines & Pick<Machines, 'members'>
  /** Returns the user with the present rights. Throws `forbidden` for one who has none any more. */
  readonly findUser: (user: { readonly id: string; readonly apiKeyId: string | undefined }) => Promise<Principal>
  /** Called when a run has failed. The next one is at the next time of the schedule. */
  readonly onFailed: (schedule: ScheduleRecord, error: unknown) => void
}

/** Says why a run has failed. What nobody has expected is only in the log of the service, because it may name secrets. */
const describeProblem = (error: unknown): string =>
  error instanceof ServiceError ? error.message : 'The service failed; its log has the reason.'

export const createRunner = ({ records, findUser, onFailed, ...calls }: RunnerOptions): Runner => {
  const running = new Map<string, Promise<void>>()
  /** When a machine was first seen missing. */
  const missingSince = new Map<string, number>()
  const closing = new AbortController()

  /** Runs a schedule. Returns why that has failed. */
  const run = async (schedule: ScheduleRecord): Promise<{ readonly error?: unknown }> => {
    try {
      const { id, api_key } = schedule.set_by
      await runSchedule(schedule, await findUser({ id, apiKeyId: api_key }), { ...calls, signal: closing.signal })
      return {}
    } catch (error) {
      return { error }
    }
  }
  const runOne = async (schedule: ScheduleRecord): Promise<void> => {
    const { error } = await run(schedule)
    if (closing.signal.aborted || isFault(error, 'unavailable')) return
    const { problem: _, ...rest } = schedule
    const now = Date.now()
    if (error !== undefined) onFailed(schedule, error)
    await records.update(schedule, {
      ...rest,
      last_at: new Date(now).toISOString(),
      next: { at: new Date(findNextRun(schedule, now)).toISOString(), snapshot: crypto.randomUUID() },
      ...(error !== undefined && { problem: describeProblem(error) }),
    })
  }

  return {
    runDue() {
      if (closing.signal.aborted) return
      const now = Date.now()
      for (const schedule of records.list()) {
        const { machine, next } = schedule
        const isMissing = calls.machines.members.find(machine) === undefined
        if (!isMissing) missingSince.delete(machine)
        else if (!missingSince.has(machine)) missingSince.set(machine, now)
        const due = isMissing ? missingSince.get(machine)! + missingTime : Date.parse(next.at)
        if (running.has(machine) || due > now) continue
        const result = (isMissing ? records.remove(schedule) : runOne(schedule))
          .catch((error: unknown) => onFailed(schedule, error))
          .finally(() => running.delete(machine))
        running.set(machine, result)
      }
    },
    async close() {
      closing.abort(new ServiceError('unavailable', 'The service is shutting down; its next start makes up the run.'))
      await Promise.all(running.values())
    },
  }
}
