import type { MaybePromise } from '#lib/async/maybe-promise.ts'
import type { Principal } from './principal.ts'
import type { SessionReference } from './session-reference.ts'

/** The credentials that a request carries. */
export interface Credential {
  /** The value of `Authorization: Bearer`. */
  readonly bearer: string | undefined
  /** The value of `X-Api-Key`. */
  readonly apiKey: string | undefined
  /** Identifies the connection. The last token of a connection is recognized without computing its digest. */
  readonly connection?: object | undefined
  /** The session of the ticket that the request came with. It takes precedence over the others. */
  readonly session?: SessionReference | undefined
  /** The request can change something. */
  readonly changes?: boolean
  /**
   * Milliseconds since 1970 at which the handler of the request has begun, for a check that comes later. A credential for one request
   * stays good for it, however long it takes.
   */
  readonly admittedAt?: number
}

/** Finds the principal of a credential; undefined for a request without one. Throws `unauthenticated` for a bad credential. */
export type Authenticate = (credential: Credential) => MaybePromise<Principal | undefined>
