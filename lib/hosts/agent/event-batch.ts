import { formatCursor } from '#lib/events/cursor.ts'
import type { NumberedEvent } from '#lib/events/event.ts'
import type { Events } from '#lib/events/events.ts'
import { toMessageFields } from '#lib/events/event.ts'
import { type Heartbeat, type HostEvent, relayedEventTypes } from '../heartbeat-schemas.ts'

/** The events of a heartbeat. */
export interface EventBatch {
  readonly events: NonNullable<Heartbeat['events']>
  /** There are more events than fit into one heartbeat. */
  readonly hasMore: boolean
}

export type EventSource = Pick<Events, 'head' | 'resolveCursor' | 'entries'>

/** The most events that are read for one heartbeat, and about the most bytes of those that are sent. */
const maxEvents = 500
const maxLength = 1_000_000

/** Only events of machines and of the cache are sent: who signs in on a host, and its jobs, are the host's own business. */
const toHostEvent = (event: NumberedEvent): HostEvent | undefined => {
  const type = relayedEventTypes.find(relayed => relayed === event.event_type)
  if (type === undefined) return undefined
  const { id, timestamp, message, body } = toMessageFields(event)
  return { id, event_type: type, timestamp, message, ...(body && { body }) }
}

/**
 * The events after the cursor that the control has. Without one it gets the events from now on, because it gets the
 * machines as they are now too. Gives undefined when there is nothing new.
 */
export const readEventBatch = (source: EventSource, acknowledged: string | undefined): EventBatch | undefined => {
  if (acknowledged === undefined) {
    const head = formatCursor(source.head())
    return { events: { after: head, next: head, entries: [] }, hasMore: false }
  }
  const { cursor, gap } = source.resolveCursor(acknowledged)
  const found = source.entries(cursor, maxEvents)
  if (found.length === 0 && !gap) return undefined
  const entries: HostEvent[] = []
  let length = 0
  let { seq } = cursor
  for (const event of found) {
    if (length > maxLength) break
    seq = event.seq
    const sent = toHostEvent(event)
    if (!sent) continue
    entries.push(sent)
    length += Buffer.byteLength(JSON.stringify(sent))
  }
  return {
    events: {
      after: formatCursor(cursor),
      ...(gap && { replaces: acknowledged }),
      next: formatCursor({ ...cursor, seq }),
      entries,
    },
    hasMore: seq < source.head().seq,
  }
}
