import { errors, type CryptoKey, jwtVerify, SignJWT } from 'jose'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'

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
})
export type TokenClaims = z.infer<typeof TokenClaims>

export interface Tokens {
  /** A signed token; `expiresAt` in seconds since 1970. */
  issue(user: TokenUser): Promise<{ readonly token: string; readonly expiresAt: number }>
  /** What the token says. Throws `unauthenticated` for one that is expired, or not from here. */
  verify(token: string): Promise<TokenClaims>
}

type TokenUser = Pick<TokenClaims, 'uid' | 'email' | 'username' | 'roles' | 'claims'>

interface Options {
  /** The only algorithm that is believed: a token cannot choose (RFC 8725, 3.1). */
  readonly algorithm: 'RS256'
  /** Left out where tokens are only verified. */
  readonly signingKey?: CryptoKey
  readonly verificationKey: CryptoKey
  readonly keyId: string
  /** Seconds. */
  readonly lifetime: number
  /**
   * SHA-256 of a text. Handed in because a host computes it at once, while the web's own way goes through a thread and
   * costs more than all the rest of a request.
   */
  readonly digest: (text: string) => string | Promise<string>
}

const longest = 16 * 1024
const remembered = 10_000

const invalid = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('unauthenticated', message, {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
const expired = (): ServiceError => invalid('The token is expired; sign in again.')

/** Issues and verifies tokens. Verified ones are remembered by digest, so that a signature is checked once. */
export const createTokens = ({ algorithm, signingKey, verificationKey, keyId, lifetime, digest }: Options): Tokens => {
  const verified = new Map<string, TokenClaims>()

  const remember = (key: string, claims: TokenClaims): void => {
    // A Map iterates in the order of insertion: the first key is the one that was used longest ago.
    if (verified.size >= remembered) verified.delete(verified.keys().next().value!)
    verified.set(key, claims)
  }

  const check = async (token: string): Promise<TokenClaims> => {
    try {
      const { payload } = await jwtVerify(token, verificationKey, { algorithms: [algorithm], typ: 'JWT' })
      return TokenClaims.parse(payload)
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired()
      throw invalid('The token is not valid; sign in again.', error)
    }
  }

  return {
    async issue(user) {
      if (!signingKey) throw new ServiceError('unavailable', 'Tokens are not issued here.')
      const now = Math.floor(Date.now() / 1000)
      const expiresAt = now + lifetime
      const token = await new SignJWT({ ...user })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: keyId })
        .setIssuedAt(now)
        .setExpirationTime(expiresAt)
        .setJti(crypto.randomUUID())
        .sign(signingKey)
      return { token, expiresAt }
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
