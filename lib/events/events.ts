import * as z from 'zod'
import type { Principal } from '#lib/auth/principal.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import { type Cursor, cursorText, readCursor } from './cursor.ts'
import { type EventMessage, maySee, type NewEvent, type Numbered, StoredEvent, storedEvent } from './event.ts'

/** Tells of a change: a write for the commit that makes the change, so that both are there or neither is. */
export type Tell = (event: NewEvent) => Write

/** What a reader asks for. */
export interface Wanted {
  readonly types: ReadonlySet<string>
  readonly principal: Principal
}

/** Events in the order of the log, and where to go on. */
export interface Batch {
  readonly messages: readonly EventMessage[]
  readonly next: Cursor
}

/** Every change of the service, numbered. It is the bus: who wants to know reads on from where they were. */
export interface Events {
  readonly tell: Tell
  /** Tells of what has no document of its own; settles when it is on disk. */
  publish(event: NewEvent): Promise<void>
  /** The place after the last event. */
  head(): Cursor
  /**
   * The place that a cursor means. `gap` when what came after it is not kept any more, or it is of another log: then the
   * place is that of the oldest event that is kept. Throws `invalid`.
   */
  place(cursor: string): { readonly at: Cursor; readonly gap: boolean }
  /** The next events that somebody wants and may see; looks at no more than `limit` of all. */
  read(after: Cursor, wanted: Wanted, limit: number): Batch
  /** All events after a place, for whoever passes them on. */
  entries(after: Cursor, limit: number): readonly Numbered[]
  /** Calls `listener` after each commit, until disposed. */
  onCommit(listener: () => void): Disposable
}

export const messageOf = (epoch: string, { audience: _, seq, ...event }: Numbered): EventMessage => ({
  ...event,
  seq,
  cursor: cursorText({ epoch, seq }),
})

const Epoch = z.object({ id: z.uuid(), epoch: z.string() })

/** Opens the event log of a store. `fresh`: the store was put back from a copy, so that old cursors mean nothing. */
export const openEvents = async (store: Store, fresh = false): Promise<Events> => {
  const log = store.log('events', StoredEvent)
  const epochs = store.collection('event-epochs', Epoch)
  const known = (await epochs.list())[0]
  const epoch = known && !fresh ? known.epoch : crypto.randomUUID().slice(0, 8)
  if (epoch !== known?.epoch)
    await store.commit([...(known ? [epochs.remove(known)] : []), epochs.put({ id: crypto.randomUUID(), epoch })])

  const tell: Tell = event => {
    const stored = storedEvent(event)
    return log.append(() => stored)
  }
  const entries = ({ seq }: Cursor, limit: number): readonly Numbered[] => log.read(seq, limit)

  return {
    tell,
    publish: event => store.commit([tell(event)]),
    head: () => ({ epoch, seq: log.head() }),
    place(text) {
      const cursor = readCursor(text)
      const kept = cursor.epoch === epoch && cursor.seq >= log.first() - 1 && cursor.seq <= log.head()
      return kept ? { at: cursor, gap: false } : { at: { epoch, seq: log.first() - 1 }, gap: true }
    },
    entries,
    read(after, { types, principal }, limit) {
      const all = entries(after, limit)
      return {
        messages: all
          .filter(entry => types.has(entry.event_type) && maySee(entry.audience, principal))
          .map(entry => messageOf(epoch, entry)),
        next: { epoch, seq: all.at(-1)?.seq ?? after.seq },
      }
    },
    onCommit: listener => store.onCommit(listener),
  }
}
