import { ServiceError } from '#lib/errors.ts'
import type { Accounts } from './accounts.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Principal } from './principal.ts'
import type { Tokens } from './tokens.ts'

interface Options {
  readonly tokens: Pick<Tokens, 'verify'>
  readonly accounts: Pick<Accounts, 'principal'>
  readonly apiKeys: Pick<ApiKeys, 'principal'>
}

interface Credential {
  readonly bearer: string | undefined
  readonly apiKey: string | undefined
}

/** Finds out who sends a request; of a token and an API key the token counts. Throws `unauthenticated` for a bad one. */
export const createAuthenticate =
  ({ tokens, accounts, apiKeys }: Options) =>
  async ({ bearer, apiKey }: Credential): Promise<Principal | undefined> => {
    if (bearer === undefined) return apiKey === undefined ? undefined : apiKeys.principal(apiKey)
    const principal = await accounts.principal((await tokens.verify(bearer)).uid)
    if (!principal) throw new ServiceError('unauthenticated', 'The user of this token does not exist any more.')
    return principal
  }
