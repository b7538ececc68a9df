import { follow, type LiveEvent } from './live.ts'
import { createStore } from './store.ts'
import type { Rows } from './collection.ts'

/** The most events that the page keeps. */
const mostEvents = 2_000

/** The events since the page was loaded, newest first. */
export const recentEvents = createStore<Rows<LiveEvent>>({ rows: [], isLoaded: true, problem: undefined })

follow({
  reset: () => {},
  onEvent(event) {
    // They say each second how the service is, and have no number in the log.
    if (event.cursor === undefined) return
    const { rows } = recentEvents.get()
    recentEvents.set({ rows: [event, ...rows].slice(0, mostEvents), isLoaded: true, problem: undefined })
  },
})
