import * as z from 'zod'
import { SessionReference } from '#lib/access/session-reference.ts'
import { eventTypes } from '../event.ts'

/** A WebSocket of a Durable Object. It stays open while the object sleeps, and what is attached to it stays too. */
export interface HibernatingSocket {
  /** 1 while messages can be sent. */
  readonly readyState: number
  send(text: string): void
  close(code?: number, reason?: string): void
  /** Attaches a value of at most 2 KB. */
  serializeAttachment(value: unknown): void
  deserializeAttachment(): unknown
}

/** The WebSockets of a Durable Object. */
export interface HibernatingSockets {
  acceptWebSocket(socket: HibernatingSocket): void
  getWebSockets(): readonly HibernatingSocket[]
}

/** All that is known of a client. It is attached to the client's socket, because the memory of the object does not last. */
export const ClientState = z.object({
  id: z.string(),
  userId: z.string(),
  address: z.string(),
  /** Names the client's session. The credential itself is stored nowhere. */
  session: SessionReference,
  types: z.array(z.enum(eventTypes)),
  /** The position after the last event that was sent. */
  cursor: z.string(),
  /** Milliseconds since 1970. */
  connectedAt: z.number(),
  /** The time of the last message of the client, in milliseconds since 1970. */
  heardAt: z.number(),
  /** Bytes that were sent and that the client has not confirmed. */
  unconfirmed: z.number(),
  /** The number of the last event that the client has confirmed. */
  confirmed: z.number(),
})
export type ClientState = z.infer<typeof ClientState>

/** Reads what is attached to the socket of a client; undefined when it is nothing that this program has attached. */
export const readClientState = (socket: HibernatingSocket): ClientState | undefined =>
  ClientState.safeParse(socket.deserializeAttachment()).data
