import { deserialize, serialize } from 'node:v8'
import type { Principal } from '#lib/access/principal.ts'
import type { EventType, StoredEvent } from './event.ts'
import type { ClientActivity, AdmittedClient } from './gateway.ts'

/** Messages from the service to the events process, which is its child. `start` comes first. */
export type ServiceMessage =
  | {
      readonly do: 'start'
      readonly file: string
      /** Decrypts a sealed store; undefined for a plain one. */
      readonly dataKey: Uint8Array | undefined
      readonly epoch: string
      readonly socket: string
    }
  | { readonly do: 'refresh' }
  | { readonly do: 'set principal'; readonly id: string; readonly principal: Principal }
  | { readonly do: 'unsubscribe'; readonly id: string; readonly types: readonly EventType[] }
  | { readonly do: 'close'; readonly id: string; readonly code: number; readonly reason: string }
  | { readonly do: 'broadcast'; readonly event: StoredEvent }
  | { readonly do: 'report activity' }
  | { readonly do: 'end' }

/** Messages from the events process to the service. */
export type EventsProcessMessage =
  | { readonly report: 'ready' }
  | { readonly report: 'sent'; readonly count: number }
  | { readonly report: 'activity'; readonly clients: ReadonlyMap<string, ClientActivity> }

/** The header that carries the admitted client. The service can trust it, because only the service can reach the socket. */
export const clientHeader = 'x-vmhost-client'

/** Writes an admitted client as the value of `clientHeader`. */
export const encodeClient = (client: AdmittedClient): string => serialize(client).toString('base64')

/** Reads what `encodeClient` wrote. */
export const decodeClient = (text: string): AdmittedClient => deserialize(Buffer.from(text, 'base64')) as AdmittedClient
