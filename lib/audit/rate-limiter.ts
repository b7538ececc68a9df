import { every } from '#lib/async/every.ts'

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
  /** On the clock of `performance.now`. */
  let windowEnd = 0
  let timer: Disposable | undefined
  const endWindow = (): void => {
    timer?.[Symbol.dispose]()
    timer = undefined
    windowEnd = 0
    const ended = [...counted.values()]
    admittedCounts.clear()
    counted.clear()
    for (const { facts, count } of ended) onCounted(facts, count)
  }
  return {
    admit(kind, address, facts) {
      const now = performance.now()
      if (now >= windowEnd) {
        endWindow()
        windowEnd = now + windowLength
      }
      const admittedCount = admittedCounts.get(kind) ?? 0
      if (admittedCount < maxPerWindow) {
        admittedCounts.set(kind, admittedCount + 1)
        return true
      }
      const key = `${kind} ${counted.size < maxAddresses ? address : 'others'}`
      const count = (counted.get(key)?.count ?? 0) + 1
      counted.set(key, { count, facts })
      // The counts are in memory alone, so a program that has some must not sleep until they are written.
      timer ??= every(windowEnd - now, endWindow)
      return false
    },
    close: endWindow,
  }
}
