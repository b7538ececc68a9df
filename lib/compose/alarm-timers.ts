import type { Every } from '#lib/async/every.ts'

/** The timers of a program that sleeps while nobody calls it. An alarm wakes it, and then all work runs. */
export interface AlarmTimers {
  readonly every: Every
  /** Runs all work. */
  runAll(): void
}

/** Creates timers that keep nothing awake, because only `runAll` runs their work. */
export const createAlarmTimers = (): AlarmTimers => {
  const works = new Set<() => void>()
  return {
    every(_, run) {
      const work = (): void => run()
      works.add(work)
      return { [Symbol.dispose]: () => void works.delete(work) }
    },
    runAll: () => works.forEach(work => work()),
  }
}
