import { useEffect, useReducer } from 'preact/hooks'

/** A value that tells its readers when it has changed. */
export interface Store<T> {
  get(): T
  set(next: T): void
  subscribe(onChange: () => void): () => void
}

/** Creates a store. Readers are told once for all changes of one turn of the event loop. */
export const createStore = <T>(initial: T): Store<T> => {
  let value = initial
  let isScheduled = false
  const readers = new Set<() => void>()
  const tellReaders = (): void => {
    isScheduled = false
    for (const onChange of readers) onChange()
  }
  return {
    get: () => value,
    set(next) {
      if (Object.is(value, next)) return
      value = next
      if (!isScheduled) queueMicrotask(tellReaders)
      isScheduled = true
    },
    subscribe(onChange) {
      readers.add(onChange)
      return () => void readers.delete(onChange)
    },
  }
}

/** The value of a store, in a component that is drawn again when it changes. */
export const useStore = <T>(store: Store<T>): T => {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const drawn = store.get()
  useEffect(() => {
    // It may have changed between the drawing and now.
    if (!Object.is(store.get(), drawn)) redraw(undefined)
    return store.subscribe(() => redraw(undefined))
  }, [store])
  return drawn
}
