import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import type { Principal } from '#lib/auth/principal.ts'

/** What events are about; subscribers choose by these (the wire's names). */
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

/** Who may see an event: holders of one of the claims, these users, super users. `private`: these users alone. */
const Audience = z.object({
  claims: z.array(z.string()).optional(),
  users: z.array(z.string()).optional(),
  private: z.boolean().optional(),
})
export type Audience = z.infer<typeof Audience>

/** An event as the log keeps it. */
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
export type Numbered = StoredEvent & { readonly seq: number }

/** What somebody says who tells of a change. */
export interface NewEvent {
  readonly type: EventType
  readonly message: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly audience: Audience
}

/** An event as it is sent (the wire's form, and its place in the log). */
export const EventMessage = StoredEvent.omit({ audience: true })
  .extend({
    seq: z.int(),
    cursor: z.string().meta({ description: 'Give it as since to go on after this event' }),
  })
  .meta({ id: 'Event' })
export type EventMessage = z.infer<typeof EventMessage>

/** The event that somebody tells of, complete. */
export const storedEvent = ({ type, message, body, audience }: NewEvent): StoredEvent => ({
  id: randomBytes(32).toString('hex'),
  event_type: type,
  timestamp: new Date().toISOString(),
  message,
  ...(body && { body: { ...body } }),
  audience,
})

/** What is sent of an event but its place in the log. */
export const sentPart = ({
  id,
  event_type,
  timestamp,
  message,
  body,
}: StoredEvent): Omit<EventMessage, 'seq' | 'cursor'> => ({ id, event_type, timestamp, message, ...(body && { body }) })

/** Whether a principal may see an event. */
export const maySee = (
  { claims = [], users = [], private: hidden = false }: Audience,
  { id, superUser, claims: held }: Principal,
): boolean => users.includes(id) || (!hidden && (superUser || claims.some(claim => held.has(claim))))
