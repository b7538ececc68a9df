import * as z from 'zod'
import type { Every } from '#lib/async/every.ts'
import type { Store } from '#lib/storage/store.ts'

/** The timers of a program that sleeps while nobody calls it. An alarm wakes it, and then the work that is due runs. */
export interface AlarmTimers {
  readonly every: Every
  /** Runs the work whose time has passed since it last ran, in this process or in one before. Settles when that is stored. */
  runDue(): Promise<void>
}

/** When the work of each interval last ran (ms since 1970), by its milliseconds. */
const StoredTimes = z.object({ id: z.string(), ran_at: z.record(z.string(), z.number()) })

interface Timer {
  readonly milliseconds: number
  readonly work: () => void
}

/**
 * Creates timers that keep nothing awake, because only `runDue` runs their work. The store remembers when it ran, because each wake
 * makes a new process. Work that has never run is due.
 */
export const createAlarmTimers = (store: Pick<Store, 'collection' | 'commit'>): AlarmTimers => {
  const times = store.collection('timers', StoredTimes)
  const timers = new Set<Timer>()
  let ranAt: Readonly<Record<string, number>> | undefined
  return {
    every(milliseconds, work) {
      const timer = { milliseconds, work }
      timers.add(timer)
      return { [Symbol.dispose]: () => void timers.delete(timer) }
    },
    async runDue() {
      const now = Date.now()
      const stored = times.getSync('timers')
      const last = ranAt ?? stored?.ran_at ?? {}
      // A clock that was set back must not stop the work.
      const due = [...timers].filter(({ milliseconds }) => Math.abs(now - (last[milliseconds] ?? 0)) >= milliseconds)
      if (due.length === 0) return
      ranAt = { ...last, ...Object.fromEntries(due.map(({ milliseconds }) => [milliseconds, now])) }
      for (const { work } of due) work()
      // What cannot be remembered runs once more at the next wake.
      await store
        .commit([times.put({ id: 'timers', ran_at: ranAt, ...(stored && { rev: stored.rev }) })])
        .catch(() => undefined)
    },
  }
}
