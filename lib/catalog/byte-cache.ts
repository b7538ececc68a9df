/** A least-recently-used cache with a limit for the size of all values. The value that was used last always stays. */
export interface ByteCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
}

export const createByteCache = <T>(maxBytes: number, getSize: (value: T) => number): ByteCache<T> => {
  /** The entry that was used last comes last. */
  const entries = new Map<string, T>()
  let totalBytes = 0
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      const replaced = entries.get(key)
      if (replaced !== undefined) totalBytes -= getSize(replaced)
      entries.delete(key)
      entries.set(key, value)
      totalBytes += getSize(value)
      for (const [oldestKey, oldest] of entries) {
        if (totalBytes <= maxBytes || entries.size === 1) return
        entries.delete(oldestKey)
        totalBytes -= getSize(oldest)
      }
    },
  }
}
