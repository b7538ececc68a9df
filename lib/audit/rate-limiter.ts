/** The most refusals of one kind that get their own entries in a window. The rate limiter only counts the others. */
const maxPerWindow = 60
/** Milliseconds. */
const windowLength = 60_000
/** The most addresses for which refusals are counted separately, which bounds the memory. */
const maxAddresses = 10_000

/**
 * Limits how many refusals the audit records, so that refused clients cannot fill the disk, whether they come from one address
 * or from many.
 */
export interface RateLimiter<T> {
  /** Returns true if this refusal gets its own entry. Else it is counted for the entry at the end of the window. */
  admit(kind: string, address: string, facts: T): boolean
  /** Reports the counted refusals, and stops. */
  close(): void
}

interface CountedRefusals<T> {
  count: number
  /** What is known of the last one. */
  facts: T
}

/**
 * Creates a rate limiter. At the end of a window it calls `onCounted` for each address with the facts of the last refusal that
 * got no entry of its own, and with the number of such refusals.
 */
export const createRateLimiter = <T>(onCounted: (facts: T, count: number) => void): RateLimiter<T> => {
  const admittedCounts = new Map<string, number>()
  const counted = new Map<string, CountedRefusals<T>>()
  const endWindow = (): void => {
    const ended = [...counted.values()]
    admittedCounts.clear()
    counted.clear()
    for (const { facts, count } of ended) onCounted(facts, count)
  }
  const timer = setInterval(endWindow, windowLength)
  timer.unref()
  return {
    admit(kind, address, facts) {
      const admittedCount = admittedCounts.get(kind) ?? 0
      if (admittedCount < maxPerWindow) {
        admittedCounts.set(kind, admittedCount + 1)
        return true
      }
      const key = `${kind} ${counted.size < maxAddresses ? address : 'others'}`
      const count = (counted.get(key)?.count ?? 0) + 1
      counted.set(key, { count, facts })
      return false
    },
    close() {
      clearInterval(timer)
      endWindow()
    },
  }
}
