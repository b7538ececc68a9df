import type { LogReader } from '#lib/storage/log.ts'
import { type NumberedEvent, StoredEvent } from './event.ts'
import type { Events } from './events.ts'

/** Read-only access to the event log, for a process that is not the store's writer. */
export interface EventLogReader extends Pick<Events, 'head' | 'beginning' | 'entries' | 'onCommit'> {
  /** Checks for new events, and calls the listeners when there are some. */
  refresh(): void
}

/** Reads the event log beside its writer. `epoch` is that of the writer's log. */
export const createEventLogReader = (reader: LogReader, epoch: string): EventLogReader => {
  const listeners = new Set<() => void>()
  const emptyBounds = { first: 1, last: 0 }
  let bounds = reader.bounds('events') ?? emptyBounds
  return {
    head: () => ({ epoch, seq: bounds.last }),
    beginning: () => ({ epoch, seq: bounds.first - 1 }),
    entries: ({ seq }, limit): readonly NumberedEvent[] =>
      reader
        .read('events', { from: seq + 1, to: bounds.last, limit, newestFirst: false })
        .map(({ seq: number, value }) => ({ ...StoredEvent.parse(JSON.parse(value)), seq: number })),
    onCommit(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    refresh() {
      const before = bounds.last
      bounds = reader.bounds('events') ?? emptyBounds
      if (bounds.last !== before) for (const listener of listeners) listener()
    },
  }
}
