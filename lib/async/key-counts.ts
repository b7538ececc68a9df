/** Counts what is under way for each key. */
export interface KeyCounts {
  /** Returns the count of a key; 0 for an unknown one. */
  get(key: string): number
  /** Adds one to the count of a key until the result is disposed of, once or more often. */
  add(key: string): Disposable
}

/** Creates counts that keep only the keys in use. */
export const createKeyCounts = (): KeyCounts => {
  const counts = new Map<string, number>()
  const get = (key: string): number => counts.get(key) ?? 0
  return {
    get,
    add(key) {
      counts.set(key, get(key) + 1)
      let isAdded = true
      return {
        [Symbol.dispose]() {
          if (!isAdded) return
          isAdded = false
          const remaining = get(key) - 1
          if (remaining > 0) counts.set(key, remaining)
          else counts.delete(key)
        },
      }
    },
  }
}
