import type { ApiKeys } from './api-keys.ts'
import type { Principal } from './principal.ts'
import type { Sessions } from './sessions.ts'

interface Options {
  readonly sessions: Pick<Sessions, 'principal'>
  readonly apiKeys: Pick<ApiKeys, 'principal'>
}

interface Credential {
  readonly bearer: string | undefined
  readonly apiKey: string | undefined
}

/** Finds out who sends a request; of a token and an API key the token counts. Throws `unauthenticated` for a bad one. */
export const createAuthenticate =
  ({ sessions, apiKeys }: Options) =>
  async ({ bearer, apiKey }: Credential): Promise<Principal | undefined> => {
    if (bearer !== undefined) return sessions.principal(bearer)
    return apiKey === undefined ? undefined : apiKeys.principal(apiKey)
  }
