import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'

/** The types of events, as they are named on the wire. Subscribers choose by them. */
export const eventTypes = [
  'global',
  'pdfm',
  'system',
  'system_logs',
  'health',
  'orchestrator',
  'stats',
  'reverse_proxy',
  'catalog_cache',
  'job_manager',
  'auth',
] as const
export type EventType = (typeof eventTypes)[number]

/** Who may see an event: holders of one of the claims, these users, and super users. With `private` these users alone. */
const Audience = z.object({
  claims: z.array(z.string()).optional(),
  users: z.array(z.string()).optional(),
  private: z.boolean().optional(),
})
export type Audience = z.infer<typeof Audience>

/** An event as it is stored in the log. */
export const StoredEvent = z.object({
  id: z.string(),
  event_type: z.enum(eventTypes),
  timestamp: z.string(),
  message: z.string(),
  body: z.record(z.string(), z.unknown()).optional(),
  audience: Audience,
})
export type StoredEvent = z.infer<typeof StoredEvent>

/** An event with its number in the log. */
export type NumberedEvent = StoredEvent & { readonly seq: number }

/** An event to be published. It gets its id and its time when it is. */
export interface NewEvent {
  readonly type: EventType
  readonly message: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly audience: Audience
  /** Generated when left out. An event of another service's log keeps its id. */
  readonly id?: string
}

/** An event as it is sent to clients, with its position in the log. */
export const EventMessage = StoredEvent.omit({ audience: true })
  .extend({
    seq: z.int(),
    cursor: z.string().meta({ description: 'Give it as since to continue after this event' }),
  })
  .meta({ id: 'Event' })
export type EventMessage = z.infer<typeof EventMessage>

/** Completes a new event with an id and the present time. */
export const createStoredEvent = ({ type, message, body, audience, id }: NewEvent): StoredEvent => ({
  id: id ?? randomBytes(32).toString('hex'),
  event_type: type,
  timestamp: new Date().toISOString(),
  message,
  ...(body && { body: { ...body } }),
  audience,
})

/** The fields of an event that are sent to clients, without its position in the log. */
export const toMessageFields = ({
  id,
  event_type,
  timestamp,
  message,
  body,
}: StoredEvent): Omit<EventMessage, 'seq' | 'cursor'> => ({ id, event_type, timestamp, message, ...(body && { body }) })

/** Whether a principal may see the events of an audience. */
export const maySee = (
  { claims = [], users = [], private: hidden = false }: Audience,
  { id, superUser, claims: held }: Principal,
): boolean => users.includes(id) || (!hidden && (superUser || claims.some(claim => held.has(claim))))
