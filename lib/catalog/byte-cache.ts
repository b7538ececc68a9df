/** Keeps values as long as all together take no more than a budget of bytes; the one that was asked for last always. */
export interface ByteCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
}

export const createByteCache = <T>(budget: number, bytesOf: (value: T) => number): ByteCache<T> => {
  /** The one that was asked for last comes last. */
  const kept = new Map<string, T>()
  let all = 0
  return {
    get(key) {
      const value = kept.get(key)
      if (value === undefined) return undefined
      kept.delete(key)
      kept.set(key, value)
      return value
    },
    set(key, value) {
      const before = kept.get(key)
      if (before !== undefined) all -= bytesOf(before)
      kept.delete(key)
      kept.set(key, value)
      all += bytesOf(value)
      for (const [oldest, old] of kept) {
        if (all <= budget || kept.size === 1) return
        kept.delete(oldest)
        all -= bytesOf(old)
      }
    },
  }
}
