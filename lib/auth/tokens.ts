import type { KeyObject } from 'node:crypto'
import { errors, type CryptoKey, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod'
import type { MaybePromise } from '#lib/async/maybe-promise.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Algorithm } from './algorithms.ts'
import { toCryptoKey } from './token-key.ts'

/** The claims set of a token. Roles and claims are informative: the present rights are looked up on each request. */
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
  /** Issues a signed token, without roles and claims if they are too long. `expiresAt` is in seconds since 1970. */
  issue(user: TokenUser): Promise<{ readonly token: string; readonly expiresAt: number }>
  /** Verifies a token and gives its claims set, at once if it was verified before. Throws `unauthenticated` when it is invalid or expired. */
  verify(token: string, connection?: object): MaybePromise<TokenClaims>
}

type Key = CryptoKey | KeyObject

/** The keys that sign and verify tokens. */
export interface TokenKeys {
  /** The only algorithm that is accepted, whatever a token's header says (RFC 8725, 3.1). */
  readonly algorithm: Algorithm
  current(): { readonly id: string; readonly signing: Key }
  /** The key of a token's `kid`. */
  find(keyId: string | undefined): { readonly verification: Key } | undefined
}

type TokenUser = Omit<TokenClaims, 'exp' | 'iat' | 'jti'>

interface Options {
  readonly keys: TokenKeys
  /** The lifetime of a token in seconds. */
  readonly lifetime: number
  /**
   * Computes the SHA-256 of a text. It is an option because Node can do this synchronously, while Web Crypto uses a thread,
   * which costs more than the rest of a request.
   */
  readonly sha256: (text: string) => string
}

const maxLength = 16 * 1024
/** The longest token that is issued. All headers of a request together may have 16 KiB. */
const maxIssuedLength = 12 * 1024
const maxCached = 10_000

const createInvalidTokenError = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('unauthenticated', message, {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
export const createExpiredTokenError = (): ServiceError =>
  createInvalidTokenError('The token is expired; sign in again.')

/** Issues and verifies tokens. Verified tokens are cached by digest, so that each signature is checked once. */
export const createTokens = ({ keys, lifetime, sha256 }: Options): Tokens => {
  const verified = new Map<string, TokenClaims>()
  const lastByConnection = new WeakMap<object, { readonly token: string; readonly claims: TokenClaims }>()

  const cache = (key: string, claims: TokenClaims): void => {
    // A Map iterates in the order of insertion, so the first key is the least recently used one.
    if (verified.size >= maxCached) for (const oldest of verified.keys().take(1)) verified.delete(oldest)
    verified.set(key, claims)
  }

  const findVerificationKey = (id: string | undefined): MaybePromise<CryptoKey> => {
    const key = keys.find(id)
    if (!key) throw new Error('its key is not known here')
    return toCryptoKey(key.verification, keys.algorithm)
  }
  const verifySignature = async (token: string): Promise<TokenClaims> => {
    try {
      const options = { algorithms: [keys.algorithm], typ: 'JWT' }
      const { payload } = await jwtVerify(
        token,
        async (header: { kid?: string | undefined }) => findVerificationKey(header.kid),
        options,
      )
      return TokenClaims.parse(payload)
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw createExpiredTokenError()
      throw createInvalidTokenError('The token is not valid; sign in again.', error)
    }
  }

  const getByDigest = (token: string): TokenClaims | undefined => {
    if (token.length > maxLength) throw createInvalidTokenError('The token is not valid: it is too long.')
    const key = sha256(token)
    const claims = verified.get(key)
    verified.delete(key)
    if (claims && claims.exp * 1000 > Date.now()) verified.set(key, claims)
    return claims
  }
  /**
   * The claims set of a token that was verified before; undefined for any other. The last token of a connection is found by
   * its text alone, without computing a digest. Throws `unauthenticated` for one that has expired.
   */
  const getVerified = (token: string, connection?: object): TokenClaims | undefined => {
    const last = connection && lastByConnection.get(connection)
    const isLast = last?.token === token
    const claims = isLast ? last.claims : getByDigest(token)
    if (claims && claims.exp * 1000 <= Date.now()) throw createExpiredTokenError()
    if (connection && claims && !isLast) lastByConnection.set(connection, { token, claims })
    return claims
  }

  const verifyNew = async (token: string, connection?: object): Promise<TokenClaims> => {
    const claims = await verifySignature(token)
    cache(sha256(token), claims)
    if (connection) lastByConnection.set(connection, { token, claims })
    return claims
  }

  return {
    async issue(user) {
      const key = keys.current()
      const signing = await toCryptoKey(key.signing, keys.algorithm)
      const now = Math.floor(Date.now() / 1000)
      const expiresAt = now + lifetime
      const sign = (payload: TokenUser): Promise<string> =>
        new SignJWT({ ...payload })
          .setProtectedHeader({ alg: keys.algorithm, typ: 'JWT', kid: key.id })
          .setIssuedAt(now)
          .setExpirationTime(expiresAt)
          .setJti(crypto.randomUUID())
          .sign(signing)
      const token = await sign(user)
      // A token without roles and claims grants the same rights, which are looked up on each request. One that is too long
      // could not be sent.
      return {
        token: token.length <= maxIssuedLength ? token : await sign({ ...user, roles: [], claims: [] }),
        expiresAt,
      }
    },
    verify: (token, connection) => getVerified(token, connection) ?? verifyNew(token, connection),
  }
}
