import type { ApiKeys } from './api-keys.ts'
import type { Authenticate } from '#lib/access/credential.ts'
import type { SessionReferences } from '#lib/access/session-reference.ts'
import type { Sessions } from './sessions.ts'
import type { TrustedIssuers } from './assertions/trusted-issuers.ts'

interface Options {
  readonly sessionReferences: Pick<SessionReferences, 'principal'>
  readonly sessions: Pick<Sessions, 'principal'>
  readonly apiKeys: Pick<ApiKeys, 'principal'>
  /**
   * Undefined when no other service is trusted, so that no request pays for reading whether its token is an assertion. An assertion
   * is then refused like any other unknown token.
   */
  readonly trustedIssuers: TrustedIssuers | undefined
}

/** Finds the principal of a request's credential. A ticket takes precedence over a token, and a token over an API key. Throws `unauthenticated`. */
export const createAuthenticate =
  ({ sessionReferences, sessions, apiKeys, trustedIssuers }: Options): Authenticate =>
  credential => {
    const { session, bearer } = credential
    if (session) return sessionReferences.principal(session)
    if (bearer !== undefined)
      return trustedIssuers?.principal(credential) ?? sessions.principal(bearer, credential.connection)
    const { apiKey } = credential
    return apiKey === undefined ? undefined : apiKeys.principal(apiKey)
  }
