import type { MaybePromise } from '#lib/async/maybe-promise.ts'
import type { Principal } from './principal.ts'
import type { SessionReference } from './session-reference.ts'

/** The credentials that a request carries. */
export interface Credential {
  /** The token: the value of `Authorization: Bearer`, unless that is an API key. */
  readonly bearer: string | undefined
  /** The API key: the value of `X-Api-Key`, or of `Authorization: Bearer`. */
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

/**
 * Whether a text is an API key rather than a token: base64 of `KEY:SECRET`. A token has dots between its parts, which base64 does
 * not have. Programs that know only `Authorization`, such as Prometheus, send an API key there.
 */
export const isApiKey = (text: string): boolean => {
  if (text.includes('.')) return false
  try {
    return atob(text).indexOf(':') > 0
  } catch {
    return false
  }
}
