/** The most refusals of one kind that get entries of their own in a window. The others are counted for each address. */
const maxPerWindow = 60
const windowLength = 60_000
const maxAddresses = 10_000

/** Limits the entries of refusals, so that clients that are refused cannot fill the disk, from one address or from many. */
export interface RateLimiter<T> {
  /** Whether a refusal of this kind gets an entry of its own. If not, it is counted. */
  allow(kind: string, address: string, facts: T): boolean
  /** Reports what was counted, and ends. */
  close(): void
}

interface Suppressed<T> {
  count: number
  last: T
}

/** `tell` gets, at the end of a window, for each address the last refusal that was not told, and how many there were. */
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
      const one = suppressed.get(key) ?? { count: 0, last: facts }
      one.count += 1
      one.last = facts
      suppressed.set(key, one)
      return false
    },
    close() {
      clearInterval(timer)
      endWindow()
    },
  }
}
