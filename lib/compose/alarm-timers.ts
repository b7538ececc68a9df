import type { Every } from '#lib/async/every.ts'

/** The timers of a program that sleeps while nobody calls it. An alarm wakes it, and then the work that is due runs. */
export interface AlarmTimers {
  readonly every: Every
  /** Runs what is due, which after a wake is all work. */
  runDue(): void
}

interface Timer {
  readonly milliseconds: number
  readonly work: () => void
  /** Milliseconds since 1970. */
  ranAt: number
}

/** Creates timers that keep nothing awake, because only `runDue` runs their work. */
export const createAlarmTimers = (): AlarmTimers => {
  const timers = new Set<Timer>()
  return {
    every(milliseconds, work) {
      const timer = { milliseconds, work, ranAt: 0 }
      timers.add(timer)
      return { [Symbol.dispose]: () => void timers.delete(timer) }
    },
    runDue() {
      const now = Date.now()
      for (const timer of timers) {
        if (now - timer.ranAt < timer.milliseconds) continue
        timer.ranAt = now
        timer.work()
      }
    },
  }
}
