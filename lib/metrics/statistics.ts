import type { NewEvent } from '#lib/events/event.ts'

const every = 5_000

/** Tells from time to time what this process uses, as events of the moment (wire names), until disposed. */
export const tellStatistics = (pass: (event: NewEvent) => void): Disposable => {
  let before = { at: performance.now(), used: 0 }
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage()
    const now = { at: performance.now(), used: user + system }
    const { rss, heapUsed } = process.memoryUsage()
    pass({
      type: 'stats',
      message: 'System Stats',
      body: {
        memory_bytes: rss,
        memory_alloc_bytes: heapUsed,
        cpu_user_seconds: user / 1e6,
        cpu_system_seconds: system / 1e6,
        // Microseconds of use in milliseconds of time.
        cpu_percent: Math.round((now.used - before.used) / (now.at - before.at)) / 10,
        goroutines: 0,
        goroutines_smoothed: 0,
      },
      audience: { claims: ['READ_ONLY'] },
    })
    before = now
  }, every)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
