import { every } from '#lib/async/every.ts'
import { type Events, openEvents } from '#lib/events/events.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import type { Store } from '#lib/storage/store.ts'

/** An event log in memory. An event that cannot be published fails the test, and so does a machine that is left suspended. */
export const newEventLog = async (
  given?: Store,
): Promise<{
  readonly store: Store
  readonly events: Events
  readonly publish: Events['publish']
  readonly onPublishFailed: (error: unknown) => void
  readonly onResumeFailed: (error: unknown) => void
}> => {
  const store = given ?? (await createMemoryStore())
  const events = await openEvents(store, { every })
  const fail = (error: unknown): never => {
    throw error
  }
  return {
    store,
    events,
    publish: events.publish,
    onPublishFailed: fail,
    onResumeFailed: fail,
  }
}
