import { client } from './service.ts'
import { follow, type LiveEvent } from './live.ts'
import { createStore } from './store.ts'
import type { Rows } from './collection.ts'

/** The most events that the page keeps. */
const mostEvents = 2_000
/** Events that one request reads. */
const pageSize = 1_000

/** The events since the page was loaded, and those of the log that were read; newest first. */
export const recentEvents = createStore<Rows<LiveEvent>>({ rows: [], isLoaded: true, problem: undefined })

/** Adds events to those that are there, each once. */
const add = (events: readonly LiveEvent[]): void => {
  const all = new Map([...recentEvents.get().rows, ...events].map(event => [event.id, event]))
  const rows = [...all.values()].toSorted((one, other) => (other.seq ?? 0) - (one.seq ?? 0)).slice(0, mostEvents)
  recentEvents.set({ rows, isLoaded: true, problem: undefined })
}

follow({
  reset: () => {},
  onEvent(event) {
    // They say each second how the service is, and have no number in the log.
    if (event.cursor === undefined) return
    const { rows } = recentEvents.get()
    recentEvents.set({ rows: [event, ...rows].slice(0, mostEvents), isLoaded: true, problem: undefined })
  },
})

/**
 * Reads the log after a cursor, or from its beginning with an empty text, as far as the page keeps events. Throws the refusal of the
 * service.
 */
export const readLog = async (cursor: string): Promise<void> => {
  let since = cursor
  for (let count = 0; count < mostEvents; count += pageSize) {
    const page = await client.api.events.list({ query: { limit: pageSize, ...(since && { since }) } })
    add(page.events)
    if (page.events.length < pageSize) return
    since = page.cursor
  }
}
