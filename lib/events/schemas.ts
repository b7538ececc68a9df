import * as z from 'zod'
import { EventMessage, type EventType, eventTypes } from './event.ts'

/** The form of a cursor in the OpenAPI document. `parseCursor` checks it. */
const cursor = { pattern: '^[0-9a-f]{8}-[0-9]{1,15}$', examples: ['5c1f0b2e-18'] }

const since = z
  .string()
  .optional()
  .meta({ ...cursor, description: 'Cursor: only events after it; only new events when left out' })

/** Names of event types, separated by commas. */
const types = z
  .string()
  .optional()
  .meta({ description: `Types of events, separated by commas: ${eventTypes.join(', ')}` })

/** Splits a list of event types that is separated by commas; `unknown` has the names that are not event types. */
export const parseEventTypes = (
  text: string | undefined,
): { readonly types: readonly EventType[]; readonly unknown: readonly string[] } => {
  const names = [...new Set((text ?? '').split(',').map(name => name.trim().toLowerCase()))].filter(Boolean)
  const isType = (name: string): name is EventType => eventTypes.some(type => type === name)
  return { types: names.filter(isType), unknown: names.filter(name => !isType(name)) }
}

export const EventQuery = z.object({
  since: since.meta({ ...cursor, description: 'Cursor: events after it; from the oldest stored event when left out' }),
  types: types.meta({ description: 'Types of events, separated by commas; all of them when left out' }),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
})

export const EventPage = z
  .object({
    events: z.array(EventMessage),
    cursor: z.string().meta({ description: 'Give it as since to continue' }),
    gap: z.literal(true).optional().meta({ description: 'Events between since and these have been removed' }),
  })
  .meta({ id: 'EventPage' })
export type EventPage = z.infer<typeof EventPage>

export const StreamQuery = z.object({ since, types, event_types: types })

export const SubscribeQuery = z.object({ since, event_types: types })

export const Unsubscribe = z.object({
  client_id: z.string().min(1),
  event_types: z.array(z.string()).min(1),
})

export const ClientRecord = z
  .object({
    id: z.string(),
    user_id: z.string(),
    username: z.string(),
    address: z.string(),
    connected_at: z.string(),
    last_ping_at: z.string().optional(),
    last_pong_at: z.string().optional(),
    event_subscriptions: z.array(z.string()),
    is_alive: z.boolean(),
    queue_depth: z.int().meta({ description: 'Bytes that wait to be sent' }),
  })
  .meta({ id: 'EventClient' })
export type ClientRecord = z.infer<typeof ClientRecord>

export const SubscriptionStats = z
  .object({
    total_clients: z.int(),
    total_subscriptions: z.int(),
    type_stats: z.record(z.string(), z.int()),
    messages_sent: z.int(),
    start_time: z.string(),
    uptime: z.string(),
  })
  .meta({ id: 'SubscriptionStats' })
export type SubscriptionStats = z.infer<typeof SubscriptionStats>
