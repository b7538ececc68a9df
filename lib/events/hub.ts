import type { Principal } from '#lib/auth/principal.ts'
import { type Cursor, cursorText } from './cursor.ts'
import { type Audience, maySee, type Numbered, sentPart, type StoredEvent } from './event.ts'
import { type Events, messageOf } from './events.ts'

/** An event as JSON text in bytes, made once for all who get it. */
export interface Frame {
  readonly seq: number
  readonly cursor: string
  readonly bytes: Buffer
}

interface Entry extends Frame {
  readonly type: string
  readonly audience: Audience
}

/** Somebody who reads events as they come: a place in the log, and what they want. */
export interface Subscription extends Disposable {
  /** The next frames, at most `limit`; empty when there are none now, `gap` once when some are not kept any more. */
  next(limit: number): readonly Frame[] | 'gap'
  /** Where reading goes on. */
  cursor(): string
}

export interface Subscriber {
  readonly after: Cursor
  /** May change while the subscription lasts. */
  readonly types: ReadonlySet<string>
  readonly principal: () => Principal
  /** Is called when there may be something to read. */
  readonly wake: () => void
  /** Takes an event of the moment, as JSON text in bytes. */
  readonly pass: (bytes: Buffer) => void
}

/** Hands each event to all who want it. What was told last is kept ready; who is further behind reads from the log. */
export interface Hub extends Disposable {
  subscribe(subscriber: Subscriber): Subscription
  /** Hands an event of the moment to all who want it now: it is in no log. */
  pass(event: StoredEvent): void
}

const kept = 10_000
const nothing: readonly Frame[] = []
const portion = 1_000
// A commit wakes the hub; this is for one that was missed.
const interval = 250

export const createHub = (events: Pick<Events, 'head' | 'beginning' | 'entries' | 'onCommit'>): Hub => {
  const { epoch } = events.head()
  const subscribers = new Set<Subscriber>()
  let recent: Entry[] = []
  let head = events.head().seq

  const entryOf = (stored: Numbered): Entry => ({
    seq: stored.seq,
    cursor: cursorText({ epoch, seq: stored.seq }),
    bytes: Buffer.from(JSON.stringify(messageOf(epoch, stored))),
    type: stored.event_type,
    audience: stored.audience,
  })
  const look = (): void => {
    if (events.head().seq === head) return
    for (;;) {
      const some = events.entries({ epoch, seq: head }, portion)
      for (const one of some) recent.push(entryOf(one))
      head = some.at(-1)?.seq ?? head
      if (some.length < portion) break
    }
    if (recent.length > 2 * kept) recent = recent.slice(-kept)
    for (const { wake } of subscribers) wake()
  }
  /** Entries after a place, from memory where they are there. */
  const after = (seq: number, limit: number): readonly Entry[] => {
    const oldest = recent[0]?.seq ?? head + 1
    if (seq >= oldest - 1) return recent.slice(seq - oldest + 1, seq - oldest + 1 + limit)
    return events.entries({ epoch, seq }, limit).map(entryOf)
  }

  const watching = events.onCommit(look)
  const timer = setInterval(look, interval)
  timer.unref()

  return {
    subscribe(subscriber) {
      let at = subscriber.after.seq
      subscribers.add(subscriber)
      return {
        next(limit) {
          const oldest = events.beginning().seq
          if (at < oldest) {
            at = oldest
            return 'gap'
          }
          if (at >= head) return nothing
          const found: Frame[] = []
          while (found.length < limit && at < head) {
            const some = after(at, portion)
            if (some.length === 0) break
            for (const entry of some) {
              at = entry.seq
              if (subscriber.types.has(entry.type) && maySee(entry.audience, subscriber.principal())) found.push(entry)
              if (found.length >= limit) break
            }
          }
          return found
        },
        cursor: () => cursorText({ epoch, seq: at }),
        [Symbol.dispose]: () => void subscribers.delete(subscriber),
      }
    },
    pass(event) {
      const bytes = Buffer.from(JSON.stringify(sentPart(event)))
      for (const { types, principal, pass } of subscribers)
        if (types.has(event.event_type) && maySee(event.audience, principal())) pass(bytes)
    },
    [Symbol.dispose]() {
      clearInterval(timer)
      watching[Symbol.dispose]()
    },
  }
}
