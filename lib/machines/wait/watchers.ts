/** Tells waiting calls that a machine has changed. */
export interface Watchers {
  /** Calls `onChange` after each change of a machine, until disposed. */
  watch(onChange: () => void): Disposable
  notify(): void
}

export const createWatchers = (): Watchers => {
  const watching = new Set<() => void>()
  return {
    watch(onChange) {
      watching.add(onChange)
      return { [Symbol.dispose]: () => void watching.delete(onChange) }
    },
    notify() {
      for (const onChange of watching) onChange()
    },
  }
}
