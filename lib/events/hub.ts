import type { Principal } from '#lib/access/principal.ts'
import type { Every } from '#lib/async/every.ts'
import { type Cursor, formatCursor } from './cursor.ts'
import { type Audience, maySee, type NumberedEvent, toMessageFields, type StoredEvent } from './event.ts'
import { type Events, toEventMessage } from './events.ts'
import { type EncodedMessage, encodeMessage } from './frame.ts'

/** An event in bytes. It is encoded once for all subscribers. */
export interface EventFrame extends EncodedMessage {
  readonly seq: number
  readonly cursor: string
}

interface RecentEvent extends EventFrame {
  readonly type: string
  readonly audience: Audience
}

/** A subscriber's position in the event log. */
export interface Subscription extends Disposable {
  /** The next frames, at most `limit`. Empty when there are none yet, and once `gap` when events were removed unread. */
  next(limit: number): readonly EventFrame[] | 'gap'
  /** The cursor after the last event that was read. */
  cursor(): string
}

/** A reader of events: where it starts, and what it may see. */
export interface Subscriber {
  readonly after: Cursor
  /** May change while the subscription lasts. */
  readonly types: ReadonlySet<string>
  readonly principal: () => Principal
  /** Called when there may be new events to read. */
  readonly onAvailable: () => void
  /** Called with each event that is not in the log. */
  readonly onBroadcast: (event: EncodedMessage) => void
}

/** Distributes events to subscribers. It caches the latest events; a subscriber that is further behind reads from the log. */
export interface Hub extends Disposable {
  subscribe(subscriber: Subscriber): Subscription
  /** Sends an event to the present subscribers without storing it in the log. */
  broadcast(event: StoredEvent): void
}

const maxRecent = 10_000
/** The most bytes of the cached events. Those of some machines are long. */
const maxRecentBytes = 16 << 20
const noFrames: readonly EventFrame[] = []
const batchSize = 1_000
// A commit notifies the hub; polling finds events whose notification was missed.
const pollInterval = 250

export const createHub = (events: Pick<Events, 'head' | 'beginning' | 'entries' | 'onCommit'>, every: Every): Hub => {
  const { epoch } = events.head()
  const subscribers = new Set<Subscriber>()
  let recent: RecentEvent[] = []
  let recentBytes = 0
  let head = events.head().seq

  const toRecentEvent = (stored: NumberedEvent): RecentEvent => ({
    seq: stored.seq,
    cursor: formatCursor({ epoch, seq: stored.seq }),
    ...encodeMessage(toEventMessage(epoch, stored)),
    type: stored.event_type,
    audience: stored.audience,
  })
  /** Forgets the oldest events, so that the latest are within both limits. */
  const forgetOldest = (): void => {
    const surplus = recent.length - maxRecent
    let forgotten = 0
    for (const { frame } of recent) {
      if (forgotten >= surplus && recentBytes <= maxRecentBytes) break
      recentBytes -= frame.length
      forgotten += 1
    }
    recent = recent.slice(forgotten)
  }
  const readNew = (): void => {
    if (events.head().seq === head) return
    for (;;) {
      const batch = events.entries({ epoch, seq: head }, batchSize)
      for (const event of batch.map(toRecentEvent)) {
        recent.push(event)
        recentBytes += event.frame.length
      }
      if (recentBytes > 2 * maxRecentBytes) forgetOldest()
      head = batch.at(-1)?.seq ?? head
      if (batch.length < batchSize) break
    }
    if (recent.length > 2 * maxRecent) forgetOldest()
    for (const { onAvailable } of subscribers) onAvailable()
  }
  /** The events after a number, from memory if they are cached. */
  const readAfter = (seq: number, limit: number): readonly RecentEvent[] => {
    const oldest = recent[0]?.seq ?? head + 1
    if (seq >= oldest - 1) return recent.slice(seq - oldest + 1, seq - oldest + 1 + limit)
    return events.entries({ epoch, seq }, limit).map(toRecentEvent)
  }

  const commitListener = events.onCommit(readNew)
  const pollTimer = every(pollInterval, readNew)

  return {
    subscribe(subscriber) {
      let position = subscriber.after.seq
      subscribers.add(subscriber)
      return {
        next(limit) {
          const oldest = events.beginning().seq
          if (position < oldest) {
            position = oldest
            return 'gap'
          }
          if (position >= head) return noFrames
          const found: EventFrame[] = []
          while (found.length < limit && position < head) {
            const batch = readAfter(position, batchSize)
            if (batch.length === 0) break
            for (const entry of batch) {
              position = entry.seq
              if (subscriber.types.has(entry.type) && maySee(entry.audience, subscriber.principal())) found.push(entry)
              if (found.length >= limit) break
            }
          }
          return found
        },
        cursor: () => formatCursor({ epoch, seq: position }),
        [Symbol.dispose]: () => void subscribers.delete(subscriber),
      }
    },
    broadcast(event) {
      const encoded = encodeMessage(toMessageFields(event))
      for (const { types, principal, onBroadcast } of subscribers)
        if (types.has(event.event_type) && maySee(event.audience, principal())) onBroadcast(encoded)
    },
    [Symbol.dispose]() {
      pollTimer[Symbol.dispose]()
      commitListener[Symbol.dispose]()
    },
  }
}
