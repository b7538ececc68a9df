import { deserialize, serialize } from 'node:v8'
import type { Principal } from '#lib/auth/principal.ts'
import type { EventType, StoredEvent } from './event.ts'
import type { Activity, Admitted } from './readers.ts'

/** What the service tells its events process, which it is the parent of. The first message is the beginning. */
export type Down =
  | {
      readonly do: 'begin'
      readonly file: string
      /** Of a sealed store. */
      readonly dataKey: Uint8Array | undefined
      readonly epoch: string
      readonly socket: string
    }
  | { readonly do: 'look' }
  | { readonly do: 'principal'; readonly id: string; readonly principal: Principal }
  | { readonly do: 'drop'; readonly id: string; readonly types: readonly EventType[] }
  | { readonly do: 'close'; readonly id: string; readonly code: number; readonly reason: string }
  | { readonly do: 'pass'; readonly event: StoredEvent }
  | { readonly do: 'tell activity' }
  | { readonly do: 'end' }

export type Up =
  | { readonly said: 'ready' }
  | { readonly said: 'sent'; readonly count: number }
  | { readonly said: 'activity'; readonly clients: ReadonlyMap<string, Activity> }

/** The header that says who a connection is for: the process's socket is reached by the service alone. */
export const clientHeader = 'x-vmhost-client'

export const admittedText = (client: Admitted): string => serialize(client).toString('base64')
export const readAdmitted = (text: string): Admitted => deserialize(Buffer.from(text, 'base64')) as Admitted
