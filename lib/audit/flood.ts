/** Refusals of one kind that are told one by one in a window; the others are told by their number. */
const toldPerWindow = 60
const windowLength = 60_000
const kinds = 10_000

/** Keeps somebody who is refused from filling the disk with it. */
export interface Flood<T> {
  /** Whether a refusal is told by itself; if not, it is counted. */
  admit(kind: string, facts: T): boolean
  close(): void
}

interface Window<T> {
  count: number
  last: T
}

/** `tell` gets, at the end of a window, the last refusal that was not told, and how many there were. */
export const createFlood = <T>(tell: (facts: T, count: number) => void): Flood<T> => {
  const windows = new Map<string, Window<T>>()
  const end = (): void => {
    const ended = [...windows.values()]
    windows.clear()
    for (const { count, last } of ended) if (count > toldPerWindow) tell(last, count - toldPerWindow)
  }
  const timer = setInterval(end, windowLength)
  timer.unref()
  return {
    admit(kind, facts) {
      const key = windows.has(kind) || windows.size < kinds ? kind : 'others'
      const window = windows.get(key) ?? { count: 0, last: facts }
      windows.set(key, window)
      window.count += 1
      window.last = facts
      return window.count <= toldPerWindow
    },
    close() {
      clearInterval(timer)
      end()
    },
  }
}
