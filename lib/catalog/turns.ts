/** Runs what is of one key one after the other; what failed does not keep the next from coming. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>

export const createTurns = (): Turns => {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key)
    const mine = (async () => {
      await before?.catch(() => {})
      return work()
    })()
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
