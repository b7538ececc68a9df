/** Refusals of one sort that are told one by one in a window; the others are told by their number, for each address. */
const toldPerWindow = 60
const windowLength = 60_000
const addresses = 10_000

/** Keeps whoever is refused, from one address or from many, from filling the disk with it. */
export interface Flood<T> {
  /** Whether a refusal of this sort is told by itself; if not, it is counted. */
  admit(sort: string, address: string, facts: T): boolean
  close(): void
}

interface Counted<T> {
  count: number
  last: T
}

/** `tell` gets, at the end of a window, for each address the last refusal that was not told, and how many there were. */
export const createFlood = <T>(tell: (facts: T, count: number) => void): Flood<T> => {
  const told = new Map<string, number>()
  const counted = new Map<string, Counted<T>>()
  const end = (): void => {
    const ended = [...counted.values()]
    told.clear()
    counted.clear()
    for (const { count, last } of ended) tell(last, count)
  }
  const timer = setInterval(end, windowLength)
  timer.unref()
  return {
    admit(sort, address, facts) {
      const before = told.get(sort) ?? 0
      if (before < toldPerWindow) {
        told.set(sort, before + 1)
        return true
      }
      const key = `${sort} ${counted.size < addresses ? address : 'others'}`
      const one = counted.get(key) ?? { count: 0, last: facts }
      one.count += 1
      one.last = facts
      counted.set(key, one)
      return false
    },
    close() {
      clearInterval(timer)
      end()
    },
  }
}
