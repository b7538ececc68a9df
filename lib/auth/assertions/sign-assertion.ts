import { SignJWT } from 'jose'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { usesSharedSecret } from '../algorithms.ts'
import { type AssertionClaims, assertionLifetime, assertionType } from './assertion.ts'
import { toCryptoKey } from '../token-key.ts'
import type { TokenKeys } from '../tokens.ts'

/**
 * Signs a statement about a user for another service, the audience. It has the rights that the user has here now, and it is for one
 * request. Throws `unsupported` when tokens are signed with a secret, which nobody else can verify.
 */
export type SignAssertion = (user: Principal, audience: string) => Promise<string>

interface Options {
  readonly keys: Pick<TokenKeys, 'algorithm' | 'current'>
  /** The name of this service, as the setting `trusted_issuers` of the other one has it. */
  readonly issuer: string
}

export const createSignAssertion =
  ({ keys, issuer }: Options): SignAssertion =>
  async (user, audience) => {
    if (usesSharedSecret(keys.algorithm))
      throw new ServiceError(
        'unsupported',
        `This service cannot speak for users to hosts while token_algorithm is ${keys.algorithm}. Set it to RS256.`,
      )
    const key = keys.current()
    const now = Math.floor(Date.now() / 1000)
    const claims: AssertionClaims = {
      iss: issuer,
      aud: audience,
      sub: user.id,
      username: user.username,
      email: user.email,
      roles: [...user.roles],
      claims: [...user.claims],
      iat: now,
      exp: now + assertionLifetime,
      jti: crypto.randomUUID(),
    }
    return new SignJWT(claims)
      .setProtectedHeader({ alg: keys.algorithm, typ: assertionType, kid: key.id })
      .sign(await toCryptoKey(key.signing, keys.algorithm))
  }
