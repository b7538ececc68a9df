import type { NewEvent } from '#lib/events/event.ts'

const interval = 5_000

/** Sends the memory and CPU use of this process to the present subscribers every five seconds, until disposed. */
export const publishStatistics = (broadcast: (event: NewEvent) => void): Disposable => {
  let before = { at: performance.now(), used: 0 }
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage()
    const now = { at: performance.now(), used: user + system }
    const { rss, heapUsed } = process.memoryUsage()
    broadcast({
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
  }, interval)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
