import type { Principal } from '#lib/access/principal.ts'
import type { Handshake } from '#lib/calls/upgrade.ts'
import type { Cursor } from './cursor.ts'
import type { EventType } from './event.ts'

/** A client that may subscribe: who it is, and where in the log it starts. */
export interface AdmittedClient {
  readonly id: string
  readonly after: Cursor
  /** Events between the client's cursor and `after` have been removed. */
  readonly gap: boolean
  readonly types: readonly EventType[]
  /** Names that the client asked for and that are not event types. */
  readonly unknown: readonly string[]
  readonly principal: Principal
}

/** The state of a client's connection. */
export interface ClientActivity {
  /** Milliseconds since 1970; 0 = never. */
  readonly lastPing: number
  readonly lastPong: number
  readonly alive: boolean
  /** Bytes that wait to be sent. */
  readonly queuedBytes: number
}

/** Sends the events of the log to WebSockets, in this process or in a child process. Ids of clients that are gone are ignored. */
export interface EventGateway extends AsyncDisposable {
  /** Settles when clients can be accepted. Throws `unavailable` when that takes too long. */
  ready(): Promise<void>
  /** Completes the handshake and serves the WebSocket until it closes. */
  accept(handshake: Handshake, client: AdmittedClient): void
  /** Replaces the client's principal, which decides what events it may see. */
  setPrincipal(id: string, principal: Principal): void
  /** Stops sending events of these types to the client. */
  unsubscribe(id: string, types: readonly EventType[]): void
  close(id: string, code: number, reason: string): void
  activity(): Promise<ReadonlyMap<string, ClientActivity>>
  /** The number of events sent since the start. */
  sent(): number
}
