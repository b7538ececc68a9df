import type { SnapshotScheduleRules } from './schemas.ts'

const day = 24 * 3_600_000

/** Returns the milliseconds of a time of the day since midnight. */
const toOffset = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return (hours * 60 + minutes) * 60_000
}

/** Returns when a schedule runs the next time after a moment. Both are milliseconds since 1970; days are those of UTC. */
export const findNextRun = ({ every, at = [] }: Pick<SnapshotScheduleRules, 'every' | 'at'>, after: number): number => {
  if (every !== undefined) return after + every * 1000
  const midnight = after - (after % day)
  const offsets = at.map(toOffset)
  const times = [...offsets, ...offsets.map(offset => offset + day)].map(offset => midnight + offset)
  return Math.min(...times.filter(time => time > after))
}
