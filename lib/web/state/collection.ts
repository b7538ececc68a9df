import { messageOf } from '../parts/text.ts'
import { lastCall } from './calls.ts'
import { follow, type LiveEvent } from './live.ts'
import { createStore, type Store } from './store.ts'

/** A list of the service that is kept up to date. */
export interface Rows<T> {
  readonly rows: readonly T[]
  readonly isLoaded: boolean
  /** Why it could not be read. */
  readonly problem: string | undefined
}

interface Options<T> {
  readonly load: () => Promise<readonly T[]>
  /** The rows after an event; `reload` if only the service can tell them, the same rows if the event is about something else. */
  readonly onEvent: (rows: readonly T[], event: LiveEvent) => readonly T[] | 'reload'
}

/** Milliseconds between two reloads. */
const reloadPause = 300

/** Creates a list that is read when it is first used, and then follows the events. */
export const createCollection = <T>({ load, onEvent }: Options<T>): Store<Rows<T>> & { reload(): void } => {
  const store = createStore<Rows<T>>({ rows: [], isLoaded: false, problem: undefined })
  let isStarted = false
  let isLoading = false
  let isStale = false
  /** Events that came while the list was being read: they are newer than some of its rows. */
  let missed: LiveEvent[] = []

  const apply = (event: LiveEvent): void => {
    const current = store.get()
    const rows = onEvent(current.rows, event)
    if (rows === 'reload') reload()
    else if (rows !== current.rows) store.set({ ...current, rows })
  }
  const read = async (): Promise<void> => {
    isLoading = true
    isStale = false
    missed = []
    try {
      store.set({ rows: await load(), isLoaded: true, problem: undefined })
      for (const event of missed) apply(event)
    } catch (error) {
      store.set({ ...store.get(), isLoaded: true, problem: messageOf(error) })
    }
    setTimeout(() => {
      isLoading = false
      if (isStale) void read()
    }, reloadPause)
  }
  const reload = (): void => {
    isStale = true
    if (!isLoading) void read()
  }
  return {
    ...store,
    reload,
    subscribe(onChange) {
      if (!isStarted)
        follow({
          reset: reload,
          onEvent(event) {
            if (isLoading) missed.push(event)
            apply(event)
          },
        })
      isStarted = true
      return store.subscribe(onChange)
    },
  }
}

interface ReloadedOptions<T> {
  readonly load: () => Promise<readonly T[]>
  /** The area of the API whose calls change the list. */
  readonly area: string
  /** The messages of the events after which the list is another one. */
  readonly messages: RegExp
}

/** Creates a list that is read again after each event about it, and after each call of this page that changes it. */
export const createReloadedCollection = <T>({ load, area, messages }: ReloadedOptions<T>): Store<Rows<T>> => {
  const collection = createCollection<T>({
    load,
    onEvent: (rows, { message }) => (messages.test(message) ? 'reload' : rows),
  })
  lastCall.subscribe(() => {
    if (lastCall.get()?.area === area) collection.reload()
  })
  return collection
}
