import { ServiceError } from '#lib/errors.ts'
import { continueWith, type MaybePromise } from '#lib/async/maybe-promise.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Directory } from './directory.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { Revocations } from './revocations.ts'
import { createExpiredTokenError, type TokenClaims, type Tokens } from './tokens.ts'

/** What of a token says whether it is in use, and for whom. */
type TokenIdentity = Pick<TokenClaims, 'uid' | 'jti' | 'exp' | 'gen' | 'api_key_id'>

/** The tokens in use. Whether a token's user still exists and has not signed out is checked on each request. */
export interface Sessions {
  /** Gives a token's claims, at once if it was verified before. Throws `unauthenticated` when it is invalid, expired or ended, or its user or API key is gone. */
  verify(token: string, connection?: object): MaybePromise<TokenClaims>
  /** The principal of a token. Synchronous for a token that was verified before. Throws as `verify` does. */
  principal(token: string, connection?: object): MaybePromise<Principal>
  /** The principal of a token that was verified before, by what identifies it. Throws as `verify` does. */
  principalOf(identity: TokenIdentity): MaybePromise<Principal>
  /** Ends a token before it expires. Throws as `verify` does. */
  end(token: string): Promise<void>
}

interface Options {
  readonly tokens: Pick<Tokens, 'verify'>
  readonly revocations: Revocations
  readonly directory: Pick<Directory, 'users' | 'principal'>
  readonly apiKeys: Pick<ApiKeys, 'principalOf'>
}

const createInvalidTokenError = (message: string): ServiceError =>
  new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } })

export const createSessions = (options: Options): Sessions => {
  const { tokens, revocations, directory, apiKeys } = options

  /** The present principal of a verified token. This is never cached, so that changes of rights take effect at once. */
  const findPrincipal = (claims: TokenIdentity): MaybePromise<Principal> => {
    if (revocations.has(claims.jti)) throw createInvalidTokenError('This token was signed out; sign in again.')
    if (claims.api_key_id !== undefined) return apiKeys.principalOf(claims.api_key_id)
    const user = directory.users.getSync(claims.uid)
    if (!user) throw createInvalidTokenError('The user of this token does not exist any more.')
    // Tokens from before generations existed belong to the first one.
    if ((claims.gen ?? 0) !== user.generation)
      throw createInvalidTokenError('The password was changed meanwhile; sign in again.')
    return directory.principal(user)
  }
  const verify = (token: string, connection?: object): MaybePromise<TokenClaims> =>
    continueWith(tokens.verify(token, connection), claims => continueWith(findPrincipal(claims), () => claims))
  return {
    verify,
    principal: (token, connection) => continueWith(tokens.verify(token, connection), findPrincipal),
    principalOf(identity) {
      if (identity.exp * 1000 <= Date.now()) throw createExpiredTokenError()
      return findPrincipal(identity)
    },
    async end(token) {
      const { jti, exp } = await verify(token)
      await revocations.add(jti, exp)
    },
  }
}
