import type { Principal } from '#lib/auth/principal.ts'
import type { Handshake } from '#lib/http/upgrade.ts'
import type { Cursor } from './cursor.ts'
import type { EventType } from './event.ts'

/** A client that was admitted: who it is, and where in the log it begins. */
export interface Admitted {
  readonly id: string
  readonly after: Cursor
  /** What came before that is not kept any more. */
  readonly gap: boolean
  readonly types: readonly EventType[]
  /** Names that it asked for and that are no types. */
  readonly unknown: readonly string[]
  readonly principal: Principal
}

/** What is seen of a connection where it is served. */
export interface Activity {
  /** Milliseconds since 1970; 0 = never. */
  readonly lastPing: number
  readonly lastPong: number
  readonly alive: boolean
  /** Bytes that wait to be sent. */
  readonly waiting: number
}

/** Hands the events of the log to WebSockets: in this process, or in one of their own. Unknown ids are gone clients. */
export interface Readers extends AsyncDisposable {
  /** Settles when clients can be taken. Throws `unavailable`. */
  ready(): Promise<void>
  /** Makes the connection a WebSocket and serves it; the connection closes when that ends. */
  take(handshake: Handshake, client: Admitted): void
  /** Who the client is from now on. */
  setPrincipal(id: string, principal: Principal): void
  drop(id: string, types: readonly EventType[]): void
  close(id: string, code: number, reason: string): void
  activity(): Promise<ReadonlyMap<string, Activity>>
  /** Events that were ever sent. */
  sent(): number
}
