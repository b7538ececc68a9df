import type { Principal } from '#lib/auth/principal.ts'
import type { EventType, StoredEvent } from './event.ts'
import type { Activity, Admitted } from './readers.ts'

/** How the service and its events process talk: lines of JSON down its standard input, and up its standard output. */

/** The first line down: what to read, and where to serve. */
export interface Beginning {
  readonly file: string
  /** Of a sealed store, base64. */
  readonly dataKey?: string
  readonly epoch: string
  readonly socket: string
}

/** A principal as JSON has it. */
export type PrincipalText = Omit<Principal, 'claims'> & { readonly claims: readonly string[] }

export type Down =
  | { readonly do: 'look' }
  | { readonly do: 'principal'; readonly id: string; readonly principal: PrincipalText }
  | { readonly do: 'drop'; readonly id: string; readonly types: readonly EventType[] }
  | { readonly do: 'close'; readonly id: string; readonly code: number; readonly reason: string }
  | { readonly do: 'pass'; readonly event: StoredEvent }
  | { readonly do: 'tell activity' }
  | { readonly do: 'end' }

export type Up =
  | { readonly said: 'ready' }
  | { readonly said: 'sent'; readonly count: number }
  | { readonly said: 'activity'; readonly clients: readonly (readonly [string, Activity])[] }

/** The header that says who a connection is for; the process is reached by the service alone. */
export const clientHeader = 'x-vmhost-client'

export const principalText = (principal: Principal): PrincipalText => ({ ...principal, claims: [...principal.claims] })
export const readPrincipal = (text: PrincipalText): Principal => ({ ...text, claims: new Set(text.claims) })

export const admittedText = ({ principal, ...rest }: Admitted): string =>
  Buffer.from(JSON.stringify({ ...rest, principal: principalText(principal) })).toString('base64')

export const readAdmitted = (text: string): Admitted => {
  const { principal, ...rest } = JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as Omit<
    Admitted,
    'principal'
  > & { principal: PrincipalText }
  return { ...rest, principal: readPrincipal(principal) }
}
