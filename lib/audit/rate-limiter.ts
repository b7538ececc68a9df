/** The most refusals of one kind that get entries of their own in a window. The others are counted for each address. */
const maxPerWindow = 60
const windowLength = 60_000
const maxAddresses = 10_000

/** Limits the entries of refusals, so that clients that are refused cannot fill the disk, from one address or from many. */
export interface RateLimiter<T> {
  /** Whether a refusal of this kind gets an entry of its own. If not, it is counted. */
  allow(kind: string, address: string, facts: T): boolean
  /** Reports the counted refusals, and stops. */
  close(): void
}

interface Suppressed<T> {
  count: number
  last: T
}

/**
 * Makes a rate limiter. At the end of a window `report` gets, for each address, the last refusal without an entry and the
 * number of such refusals.
 */
export const createRateLimiter = <T>(report: (facts: T, count: number) => void): RateLimiter<T> => {
  const allowed = new Map<string, number>()
  const suppressed = new Map<string, Suppressed<T>>()
  const endWindow = (): void => {
    const ended = [...suppressed.values()]
    allowed.clear()
    suppressed.clear()
    for (const { count, last } of ended) report(last, count)
  }
  const timer = setInterval(endWindow, windowLength)
  timer.unref()
  return {
    allow(kind, address, facts) {
      const before = allowed.get(kind) ?? 0
      if (before < maxPerWindow) {
        allowed.set(kind, before + 1)
        return true
      }
      const key = `${kind} ${suppressed.size < maxAddresses ? address : 'others'}`
      const counted = suppressed.get(key) ?? { count: 0, last: facts }
      counted.count += 1
      counted.last = facts
      suppressed.set(key, counted)
      return false
    },
    close() {
      clearInterval(timer)
      endWindow()
    },
  }
}
