import { hash } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { usesSharedSecret } from '../algorithms.ts'
import { AssertionClaims, assertionLifetime, assertionType, maxAssertionLength } from './assertion.ts'
import { toCryptoKey } from '../token-key.ts'
import type { TokenKeys } from '../tokens.ts'

/**
 * Signs a statement about a user for another service, the audience. It has the rights that the user has here now, and it is for one
 * request. `id` is its id, a UUID; one of its own when left out. `body` is the body of that request: the assertion is for no other one. `nonce` is that of the audience, if it has told one.
 * Throws `unsupported` when tokens are signed with a secret, which nobody else can verify, and `conflict` for a user with more rights
 * than fit into an assertion.
 */
export type SignAssertion = (
  user: Principal,
  audience: string,
  request?: {
    readonly id?: string
    readonly body?: string | Uint8Array | undefined
    readonly nonce?: string | undefined
  },
) => Promise<string>

interface Options {
  readonly keys: Pick<TokenKeys, 'algorithm' | 'current'>
  /** The name of this service, as the setting `trusted_issuers` of the other one has it. */
  readonly issuer: string
}

const createTooManyRightsError = ({ username, roles, claims }: Principal): ServiceError =>
  new ServiceError(
    'conflict',
    `The rights of ${username} cannot be told to a host, because they are more than it accepts: ${roles.length} roles and ${claims.size} claims. Give the user fewer, or ones with shorter names.`,
  )

export const createSignAssertion =
  ({ keys, issuer }: Options): SignAssertion =>
  async (user, audience, { id, body, nonce } = {}) => {
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
      ...(body !== undefined && { body: hash('sha256', body) }),
      iat: now,
      exp: now + assertionLifetime,
      jti: id ?? crypto.randomUUID(),
      ...(nonce !== undefined && { nonce }),
    }
    if (!AssertionClaims.safeParse(claims).success) throw createTooManyRightsError(user)
    const assertion = await new SignJWT(claims)
      .setProtectedHeader({ alg: keys.algorithm, typ: assertionType, kid: key.id })
      .sign(await toCryptoKey(key.signing, keys.algorithm))
    if (assertion.length > maxAssertionLength) throw createTooManyRightsError(user)
    return assertion
  }
