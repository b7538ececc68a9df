import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { MachineReference } from '#lib/machines/reference.ts'

const day = 24 * 3600

const ScheduleName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/,
    'must be 1 to 32 letters, digits, _ and -, with a letter or digit at both ends',
  )

const Time = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of the day, such as 03:00')

const Count = z.int().min(0).max(1000)

/** The rules of what is kept. Each one counts snapshots that no rule before it keeps. */
const KeepRules = knownObject('the rules of what is kept', {
  last: Count.optional().meta({ description: 'So many of the newest snapshots' }),
  hourly: Count.optional().meta({ description: 'The newest snapshot of an hour, for so many hours' }),
  daily: Count.optional().meta({ description: 'The newest snapshot of a day, for so many days' }),
  weekly: Count.optional().meta({ description: 'The newest snapshot of a week, for so many weeks from Monday on' }),
}).refine(rules => Object.values(rules).some(count => (count ?? 0) > 0), 'must keep at least one snapshot')
export type KeepRules = z.infer<typeof KeepRules>

const scheduleShape = {
  every: z
    .int()
    .min(10)
    .max(31 * day)
    .optional()
    .meta({ description: 'Seconds from one snapshot to the next' }),
  at: z.array(Time).min(1).max(24).optional().meta({ description: 'Times of the day (UTC), in place of `every`' }),
  memory: z.boolean().default(false).meta({
    description: 'Whether the memory of a running or paused machine is saved too: then each snapshot is a checkpoint',
  }),
  keep: KeepRules.meta({ description: 'Which snapshots of this schedule are kept; the others are deleted' }),
  max_size: z.int().min(1).max(1_000_000_000).optional().meta({
    description: 'MB that the snapshots of this schedule may take together; the oldest are deleted first',
  }),
}

/** When snapshots of a machine are made, and which of them are kept. */
export const SnapshotScheduleRules = knownObject('a schedule of snapshots', scheduleShape).refine(
  ({ every, at }) => (every === undefined) !== (at === undefined),
  { path: ['every'], message: 'must be there, or at must, but not both' },
)
export type SnapshotScheduleRules = z.infer<typeof SnapshotScheduleRules>

export const SnapshotSchedule = z
  .object({
    name: z.string(),
    ...scheduleShape,
    keep: z.object(KeepRules.shape).meta({ description: 'Which snapshots of this schedule are kept' }),
    set_by: z.string().meta({ description: 'Name of the user with whose rights it runs' }),
    set_at: z.string(),
    next_at: z.string().meta({ description: 'When it runs the next time. A run that was missed is made up once' }),
    last_at: z.string().optional().meta({ description: 'When it has run the last time' }),
    problem: z.string().optional().meta({ description: 'Why the last run has failed; left out if it has not' }),
  })
  .meta({ id: 'SnapshotSchedule' })
export type SnapshotSchedule = z.infer<typeof SnapshotSchedule>

export const SnapshotScheduleList = z
  .object({ schedules: z.array(SnapshotSchedule) })
  .meta({ id: 'SnapshotScheduleList' })

/** The path of a schedule. */
export const SnapshotScheduleReference = MachineReference.extend({
  schedule: ScheduleName.meta({ description: 'Name of the schedule, in any case' }),
})
