import type { ApiKeys } from './api-keys.ts'
import type { Authenticate } from '#lib/access/credential.ts'
import type { Sessions } from './sessions.ts'

interface Options {
  readonly sessions: Pick<Sessions, 'principal'>
  readonly apiKeys: Pick<ApiKeys, 'principal'>
}

/** Finds the principal of a request's credential. A token takes precedence over an API key. Throws `unauthenticated`. */
export const createAuthenticate =
  ({ sessions, apiKeys }: Options): Authenticate =>
  credential => {
    const { bearer } = credential
    if (bearer !== undefined) return sessions.principal(bearer, credential.connection)
    const { apiKey } = credential
    return apiKey === undefined ? undefined : apiKeys.principal(apiKey)
  }
