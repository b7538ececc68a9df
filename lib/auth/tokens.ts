import type { KeyObject } from 'node:crypto'
import { errors, type CryptoKey, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Algorithm } from './algorithms.ts'

/** What a token says of the user it was issued for. Informative: what they may do now is looked up on each request. */
const TokenClaims = z.object({
  uid: z.string(),
  email: z.string(),
  username: z.string(),
  roles: z.array(z.string()),
  claims: z.array(z.string()),
  exp: z.number(),
  iat: z.number(),
  jti: z.string(),
  /** The generation of the password that the user signed in with. */
  gen: z.int().optional(),
  /** The API key that the token was issued for, in place of a password. */
  api_key_id: z.string().optional(),
})
export type TokenClaims = z.infer<typeof TokenClaims>

export interface Tokens {
  /** A signed token, without roles and claims where there are too many for one; `expiresAt` in seconds since 1970. */
  issue(user: TokenUser): Promise<{ readonly token: string; readonly expiresAt: number }>
  /** What the token says. Throws `unauthenticated` for one that is expired, or not from here. */
  verify(token: string): Promise<TokenClaims>
}

type Key = CryptoKey | KeyObject

/** What tokens are signed and verified with. */
export interface TokenKeys {
  /** The only algorithm that is believed: a token cannot choose (RFC 8725, 3.1). */
  readonly algorithm: Algorithm
  /** Left out where tokens are only verified. */
  current?(): { readonly id: string; readonly signing?: Key }
  /** The key of a token's `kid`. */
  find(keyId: string | undefined): { readonly verification: Key } | undefined
}

type TokenUser = Omit<TokenClaims, 'exp' | 'iat' | 'jti'>

interface Options {
  readonly keys: TokenKeys
  /** Seconds. */
  readonly lifetime: number
  /**
   * SHA-256 of a text. Handed in because a host computes it at once, while the web's own way goes through a thread and
   * costs more than all the rest of a request.
   */
  readonly digest: (text: string) => string | Promise<string>
}

const longest = 16 * 1024
/** Of what is issued here: a request's header has 16 KiB in all. */
const longestIssued = 12 * 1024
const remembered = 10_000

const invalid = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('unauthenticated', message, {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
const expired = (): ServiceError => invalid('The token is expired; sign in again.')

/** Issues and verifies tokens. Verified ones are remembered by digest, so that a signature is checked once. */
export const createTokens = ({ keys, lifetime, digest }: Options): Tokens => {
  const verified = new Map<string, TokenClaims>()

  const remember = (key: string, claims: TokenClaims): void => {
    // A Map iterates in the order of insertion: the first key is the one that was used longest ago.
    if (verified.size >= remembered) verified.delete(verified.keys().next().value!)
    verified.set(key, claims)
  }

  const keyOf = (id: string | undefined): Key => {
    const key = keys.find(id)
    if (!key) throw new Error('its key is not known here')
    return key.verification
  }
  const check = async (token: string): Promise<TokenClaims> => {
    try {
      const options = { algorithms: [keys.algorithm], typ: 'JWT' }
      const { payload } = await jwtVerify(token, (header: { kid?: string | undefined }) => keyOf(header.kid), options)
      return TokenClaims.parse(payload)
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired()
      throw invalid('The token is not valid; sign in again.', error)
    }
  }

  return {
    async issue(user) {
      const key = keys.current?.()
      if (!key?.signing) throw new ServiceError('unavailable', 'Tokens are not issued here.')
      const now = Math.floor(Date.now() / 1000)
      const expiresAt = now + lifetime
      const { signing } = key
      const sign = (said: TokenUser): Promise<string> =>
        new SignJWT({ ...said })
          .setProtectedHeader({ alg: keys.algorithm, typ: 'JWT', kid: key.id })
          .setIssuedAt(now)
          .setExpirationTime(expiresAt)
          .setJti(crypto.randomUUID())
          .sign(signing)
      const token = await sign(user)
      // Rights are looked up on each request: a token that leaves them out opens as much, and one too long opens nothing.
      return {
        token: token.length <= longestIssued ? token : await sign({ ...user, roles: [], claims: [] }),
        expiresAt,
      }
    },
    async verify(token) {
      if (token.length > longest) throw invalid('The token is not valid: it is too long.')
      const key = await digest(token)
      const known = verified.get(key)
      verified.delete(key)
      if (known && known.exp * 1000 <= Date.now()) throw expired()
      const claims = known ?? (await check(token))
      remember(key, claims)
      return claims
    },
  }
}
