import { type Events, openEvents } from '#lib/events/events.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import type { Store } from '#lib/storage/store.ts'

/** What machines tell their changes to: a log in memory. An event that is lost fails the test, and so does what is left suspended. */
export const newTelling = async (
  given?: Store,
): Promise<{
  readonly store: Store
  readonly events: Events
  readonly tell: Events['tell']
  readonly untold: (error: unknown) => void
  readonly unresumed: (error: unknown) => void
}> => {
  const store = given ?? (await createMemoryStore())
  const events = await openEvents(store)
  const fail = (error: unknown): never => {
    throw error
  }
  return {
    store,
    events,
    tell: events.tell,
    untold: fail,
    unresumed: fail,
  }
}
