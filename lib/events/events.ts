import * as z from 'zod'
import type { Principal } from '#lib/auth/principal.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import { type Cursor, cursorText, readCursor } from './cursor.ts'
import { type EventMessage, maySee, type NewEvent, type Numbered, sentPart, StoredEvent, storedEvent } from './event.ts'

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
  close(): void
  /** Tells of what has no document of its own; settles when it is on disk. */
  publish(event: NewEvent): Promise<void>
  /** The place after the last event. */
  head(): Cursor
  /** The place before the oldest event that is kept. */
  beginning(): Cursor
  /**
   * The place that a cursor means. `gap` when what came after it is not kept any more, or it is of another log: then the
   * place is that of the oldest event that is kept. Without a cursor it is the beginning. Throws `invalid`.
   */
  place(cursor: string | undefined): { readonly at: Cursor; readonly gap: boolean }
  /** The next events that somebody wants and may see; looks at no more than `limit` of all. */
  read(after: Cursor, wanted: Wanted, limit: number): Batch
  /** All events after a place, for whoever passes them on. */
  entries(after: Cursor, limit: number): readonly Numbered[]
  /** Calls `listener` after each commit, until disposed. */
  onCommit(listener: () => void): Disposable
}

/** An event as it is sent: all but who may see it. */
export const messageOf = (epoch: string, event: Numbered): EventMessage => ({
  ...sentPart(event),
  seq: event.seq,
  cursor: cursorText({ epoch, seq: event.seq }),
})

const Epoch = z.object({ id: z.uuid(), epoch: z.string() })

interface Options {
  /** The store was put back from a copy, so that cursors of before mean nothing. */
  readonly fresh?: boolean
  /** How far the log goes back: days, and entries. */
  readonly keep?: { readonly days: number; readonly entries: number }
}

const day = 86_400_000
const cleanEvery = 10 * 60_000

/** Opens the event log of a store. */
export const openEvents = async (
  store: Store,
  { fresh = false, keep = { days: 7, entries: 100_000 } }: Options = {},
): Promise<Events> => {
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
  const beginning = (): Cursor => ({ epoch, seq: log.first() - 1 })
  const entries = ({ seq }: Cursor, limit: number): readonly Numbered[] => log.read(seq, limit)

  const forgetOld = async (): Promise<void> => {
    const oldest = new Date(Date.now() - keep.days * day).toISOString()
    let upTo = log.head() - keep.entries
    for (;;) {
      const old = log.read(Math.max(upTo, log.first() - 1), 1_000).filter(({ timestamp }) => timestamp < oldest)
      if (old.length > 0) upTo = old.at(-1)!.seq
      if (old.length < 1_000) break
    }
    if (upTo >= log.first()) await store.commit([log.forget(upTo)])
  }
  // What cannot be forgotten now is kept until the next time; a reader is told of an entry that cannot be read.
  const cleaning = setInterval(() => void forgetOld().catch(() => undefined), cleanEvery)
  cleaning.unref()

  return {
    tell,
    close: () => clearInterval(cleaning),
    publish: event => store.commit([tell(event)]),
    head: () => ({ epoch, seq: log.head() }),
    beginning,
    place(text) {
      if (text === undefined) return { at: beginning(), gap: false }
      const cursor = readCursor(text)
      const kept = cursor.epoch === epoch && cursor.seq >= log.first() - 1 && cursor.seq <= log.head()
      return kept ? { at: cursor, gap: false } : { at: beginning(), gap: true }
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
