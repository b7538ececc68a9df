import type { LogReader } from '#lib/storage/log.ts'
import { type Numbered, StoredEvent } from './event.ts'
import type { Events } from './events.ts'

/** The event log as a process sees it that only reads. */
export interface Followed extends Pick<Events, 'head' | 'beginning' | 'entries' | 'onCommit'> {
  /** Looks what is new, and wakes who waits for it. */
  look(): void
}

export const followEvents = (reader: LogReader, epoch: string): Followed => {
  const listeners = new Set<() => void>()
  const none = { first: 1, last: 0 }
  let bounds = reader.bounds('events') ?? none
  return {
    head: () => ({ epoch, seq: bounds.last }),
    beginning: () => ({ epoch, seq: bounds.first - 1 }),
    entries: ({ seq }, limit): readonly Numbered[] =>
      reader
        .read('events', { from: seq + 1, to: bounds.last, limit, newestFirst: false })
        .map(({ seq: number, value }) => ({ ...StoredEvent.parse(JSON.parse(value)), seq: number })),
    onCommit(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    look() {
      const before = bounds.last
      bounds = reader.bounds('events') ?? none
      if (bounds.last !== before) for (const listener of listeners) listener()
    },
  }
}
