import { every, type Every } from '#lib/async/every.ts'
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
  readonly every: Every
  readonly onAutomationFailed: (what: string, name: string, error: unknown) => void
  /** What could not be started or deleted automatically. */
  readonly automationFailures: readonly string[]
}> => {
  const store = given ?? (await createMemoryStore())
  const events = await openEvents(store, { every })
  const automationFailures: string[] = []
  const fail = (error: unknown): never => {
    throw error
  }
  return {
    store,
    events,
    publish: events.publish,
    onPublishFailed: fail,
    onResumeFailed: fail,
    every,
    onAutomationFailed: (what, name) => void automationFailures.push(`${what} of ${name}`),
    automationFailures,
  }
}
