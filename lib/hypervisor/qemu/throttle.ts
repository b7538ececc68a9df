/**
 * Creates a throttle for work that an outside party can trigger without limit. Each call returns the milliseconds to wait. The first
 * `burst` calls return 0; after that there is, on average, one per `interval`.
 */
export const createThrottle = (burst: number, interval: number): (() => number) => {
  /** The time at which all calls so far would have been due at one per interval. */
  let nextDue = -Infinity
  return () => {
    const now = performance.now()
    nextDue = Math.max(nextDue, now) + interval
    return Math.max(0, nextDue - now - burst * interval)
  }
}
