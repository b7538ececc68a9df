import { ServiceError } from '#lib/errors.ts'
import type { Accounts } from './accounts.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Directory } from './directory.ts'
import type { Principal } from './principal.ts'
import type { Revocations } from './revocations.ts'
import type { TokenClaims, Tokens } from './tokens.ts'

/** Whether a token still stands for somebody: it is looked at anew on each request. */
export interface Sessions {
  /** Throws `unauthenticated` for a token that is bad, expired, signed out, or whose user or API key is no more. */
  verify(token: string): Promise<TokenClaims>
  /** Who a token stands for. Throws as `verify` does. */
  principal(token: string): Promise<Principal>
  /** Ends a token before its time. */
  end(token: string): Promise<void>
}

interface Options {
  readonly tokens: Pick<Tokens, 'verify'>
  readonly revocations: Revocations
  readonly accounts: Pick<Accounts, 'get'>
  readonly directory: Pick<Directory, 'principal'>
  readonly apiKeys: Pick<ApiKeys, 'principalOf'>
}

const refused = (message: string): ServiceError =>
  new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } })

export const createSessions = (options: Options): Sessions => {
  const { tokens, revocations, accounts, directory, apiKeys } = options

  const open = async (token: string): Promise<{ claims: TokenClaims; principal: Principal }> => {
    const claims = await tokens.verify(token)
    if (revocations.has(claims.jti)) throw refused('This token was signed out; sign in again.')
    if (claims.api_key_id !== undefined) return { claims, principal: await apiKeys.principalOf(claims.api_key_id) }
    const user = await accounts.get(claims.uid)
    if (!user) throw refused('The user of this token does not exist any more.')
    // Tokens of before there were generations are of the first one.
    if ((claims.gen ?? 0) !== user.generation) throw refused('The password was changed meanwhile; sign in again.')
    return { claims, principal: directory.principal(user) }
  }
  return {
    verify: async token => (await open(token)).claims,
    principal: async token => (await open(token)).principal,
    async end(token) {
      const { claims } = await open(token)
      await revocations.add(claims.jti, claims.exp)
    },
  }
}
