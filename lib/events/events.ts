import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import type { Every } from '#lib/async/every.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import { type Cursor, formatCursor, parseCursor } from './cursor.ts'
import {
  type EventMessage,
  maySee,
  type NewEvent,
  type NumberedEvent,
  toMessageFields,
  StoredEvent,
  createStoredEvent,
} from './event.ts'

/** Publishes an event. It gives a write for the commit that makes the change, so that either both are stored or neither. */
export type Publish = (event: NewEvent) => Write

/** The events that a reader asks for: of these types, and visible to this principal. */
export interface EventSelection {
  readonly types: ReadonlySet<string>
  readonly principal: Principal
}

/** Events in the order of the log, and the cursor to read on from. */
export interface EventBatch {
  readonly messages: readonly EventMessage[]
  readonly next: Cursor
}

/** The event log: every change of the service, numbered. Subscribers read on from their last cursor. */
export interface Events {
  readonly publish: Publish
  close(): void
  /** Publishes an event that belongs to no other write. Settles when it is on disk. */
  publishNow(event: NewEvent): Promise<void>
  /** The cursor after the last event. */
  head(): Cursor
  /** The cursor before the oldest stored event. */
  beginning(): Cursor
  /**
   * The position of a client's cursor; the beginning without one. `gap` is true when the events after the cursor have been
   * removed, or when the cursor is of another epoch: reading then starts at the oldest stored event. Throws `invalid`.
   */
  resolveCursor(cursor: string | undefined): { readonly cursor: Cursor; readonly gap: boolean }
  /** Reads the next `limit` events and gives those that match the selection, which may be none. */
  read(after: Cursor, selection: EventSelection, limit: number): EventBatch
  /** The next events after a cursor, unfiltered. */
  entries(after: Cursor, limit: number): readonly NumberedEvent[]
  /** Calls `listener` after each commit, until disposed. */
  onCommit(listener: () => void): Disposable
}

/** An event as it is sent to clients: everything but its audience. */
export const toEventMessage = (epoch: string, event: NumberedEvent): EventMessage => ({
  ...toMessageFields(event),
  seq: event.seq,
  cursor: formatCursor({ epoch, seq: event.seq }),
})

const Epoch = z.object({ id: z.uuid(), epoch: z.string() })

interface Options {
  readonly every: Every
  /** The store was restored from a backup. Earlier cursors are not valid any more, so a new epoch begins. */
  readonly restored?: boolean
  /** Events are removed when they are older than `days`, or when more than `entries` are newer. */
  readonly retention?: { readonly days: number; readonly entries: number }
}

const day = 86_400_000
const cleanUpInterval = 10 * 60_000

/** Opens the event log of a store. Removes old events from time to time, until it is closed. */
export const openEvents = async (
  store: Store,
  { every, restored = false, retention = { days: 7, entries: 100_000 } }: Options,
): Promise<Events> => {
  const log = store.log('events', StoredEvent)
  const epochs = store.collection('event-epochs', Epoch)
  const [stored] = await epochs.list()
  const epoch = stored && !restored ? stored.epoch : crypto.randomUUID().slice(0, 8)
  if (epoch !== stored?.epoch)
    await store.commit([...(stored ? [epochs.remove(stored)] : []), epochs.put({ id: crypto.randomUUID(), epoch })])

  const publish: Publish = event => {
    const storedEvent = createStoredEvent(event)
    return log.append(() => storedEvent)
  }
  const beginning = (): Cursor => ({ epoch, seq: log.first() - 1 })
  const entries = ({ seq }: Cursor, limit: number): readonly NumberedEvent[] => log.read(seq, limit)

  const removeOld = async (): Promise<void> => {
    const oldest = new Date(Date.now() - retention.days * day).toISOString()
    let upTo = log.head() - retention.entries
    for (;;) {
      const old = log.read(Math.max(upTo, log.first() - 1), 1_000).filter(({ timestamp }) => timestamp < oldest)
      upTo = old.at(-1)?.seq ?? upTo
      if (old.length < 1_000) break
    }
    if (upTo >= log.first()) await store.commit([log.forget(upTo)])
  }
  // The next clean-up repeats a failed one. An entry that cannot be read fails its readers, not the clean-up.
  const cleanUpTimer = every(cleanUpInterval, () => void removeOld().catch(() => undefined))

  return {
    publish,
    close: () => cleanUpTimer[Symbol.dispose](),
    publishNow: event => store.commit([publish(event)]),
    head: () => ({ epoch, seq: log.head() }),
    beginning,
    resolveCursor(text) {
      if (text === undefined) return { cursor: beginning(), gap: false }
      const cursor = parseCursor(text)
      const isStored = cursor.epoch === epoch && cursor.seq >= log.first() - 1 && cursor.seq <= log.head()
      return isStored ? { cursor, gap: false } : { cursor: beginning(), gap: true }
    },
    entries,
    read(after, { types, principal }, limit) {
      const batch = entries(after, limit)
      return {
        messages: batch
          .filter(entry => types.has(entry.event_type) && maySee(entry.audience, principal))
          .map(entry => toEventMessage(epoch, entry)),
        next: { epoch, seq: batch.at(-1)?.seq ?? after.seq },
      }
    },
    onCommit: listener => store.onCommit(listener),
  }
}
