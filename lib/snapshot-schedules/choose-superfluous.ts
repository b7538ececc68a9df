import type { Snapshot } from '#lib/hypervisor/snapshot.ts'
import type { KeepRules, SnapshotScheduleRules } from './schemas.ts'

type Candidate = Pick<Snapshot, 'id' | 'created_at' | 'size'>

const hour = 3_600_000
const day = 24 * hour
/** The first Monday after the beginning of 1970, which was a Thursday. */
const firstMonday = 4 * day

/** The rules in the order in which they choose, and the period of a snapshot that each of them keeps one of. */
const periods: Readonly<Record<keyof KeepRules, (snapshot: Candidate) => string | number>> = {
  last: ({ id }) => id,
  hourly: ({ created_at }) => Math.floor(Date.parse(created_at) / hour),
  daily: ({ created_at }) => Math.floor(Date.parse(created_at) / day),
  weekly: ({ created_at }) => Math.floor((Date.parse(created_at) - firstMonday) / (7 * day)),
}
const rules = ['last', 'hourly', 'daily', 'weekly'] as const

/** Returns the ids of the snapshots that the rules keep. A period with a snapshot that an earlier rule keeps has one already. */
const chooseKept = (newestFirst: readonly Candidate[], keep: KeepRules): ReadonlySet<string> => {
  const kept = new Set<string>()
  for (const rule of rules) {
    const covered = new Set(newestFirst.filter(({ id }) => kept.has(id)).map(periods[rule]))
    let left = keep[rule] ?? 0
    for (const snapshot of newestFirst) {
      if (left === 0) break
      const period = periods[rule](snapshot)
      if (covered.has(period)) continue
      covered.add(period)
      kept.add(snapshot.id)
      left -= 1
    }
  }
  return kept
}

/**
 * Returns the ids of the snapshots of a schedule that its rules do not keep. The newest snapshot stays, whatever its size. `snapshots`
 * are those of the schedule, in any order.
 */
export const chooseSuperfluous = (
  snapshots: readonly Candidate[],
  { keep, max_size = Infinity }: Pick<SnapshotScheduleRules, 'keep' | 'max_size'>,
): readonly string[] => {
  const newestFirst = snapshots.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))
  const kept = chooseKept(newestFirst, keep)
  let room = max_size * 2 ** 20
  let isFull = false
  return newestFirst.flatMap(({ id, size }, at) => {
    if (!kept.has(id)) return [id]
    room -= size
    // Once a snapshot has no room, older and smaller ones go too: what is kept has no gaps.
    isFull ||= room < 0
    return isFull && at > 0 ? [id] : []
  })
}
