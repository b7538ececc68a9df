import * as z from 'zod'
import type { Credential } from './credential.ts'
import type { Principal } from './principal.ts'

/** Names a session without its secret: what a token says of itself, or the API key. */
export const SessionReference = z.object({
  token: z
    .object({
      uid: z.string(),
      jti: z.string(),
      /** Seconds since 1970. */
      exp: z.number(),
      gen: z.int().optional(),
      api_key_id: z.string().optional(),
    })
    .optional(),
  apiKeyId: z.string().optional(),
})
export type SessionReference = z.infer<typeof SessionReference>

/** Finds principals again after the credentials are gone. */
export interface SessionReferences {
  /** The reference of a credential. Throws `unauthenticated` for a bad one and for none. */
  refer(credential: Credential): Promise<SessionReference>
  /** The present principal of a session. Throws `unauthenticated` when the session has ended. */
  principal(reference: SessionReference): Promise<Principal>
}

/**
 * Uses up a ticket for a WebSocket at this place (see `formatTicketTarget`), and returns the session that it was issued to. Throws
 * `unauthenticated` for a ticket that is unknown, used, expired, or for another place.
 */
export type RedeemTicket = (ticket: string, target: string) => SessionReference
