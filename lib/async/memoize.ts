/** Caches the results of a pure function of a string. The cache is cleared when it has `maxEntries` entries. */
export const memoize = <T>(maxEntries: number, compute: (text: string) => T): ((text: string) => T) => {
  const values = new Map<string, T>()
  return text => {
    const value = values.get(text)
    if (value !== undefined) return value
    const computed = compute(text)
    if (values.size >= maxEntries) values.clear()
    values.set(text, computed)
    return computed
  }
}
