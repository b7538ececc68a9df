import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import type { Credential } from '#lib/access/credential.ts'
import type { Principal } from '#lib/access/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { AssertionClaims, assertionLifetime, assertionType, nonceHeader } from './assertion.ts'
import { createIssuerKeys, type FetchJson, type IssuerKeys, type KeySet } from './issuer-keys.ts'
import { createUsedAssertions } from './used-assertions.ts'

/** A service whose assertions about its users this service accepts. */
export interface TrustedIssuer {
  /** The name that it gives itself. */
  readonly issuer: string
  /** Its public keys, or the address of its key set. */
  readonly jwks: KeySet | string
  /** The name that it has for this service. Assertions for others are refused. */
  readonly audience: string
  /** The only algorithm that is accepted, whatever the header of an assertion says. */
  readonly algorithm: 'RS256' | 'RS384' | 'RS512'
}

/** Makes principals of the assertions of other services. */
export interface TrustedIssuers {
  /** The principal of an assertion; undefined when the credential is none. Throws `unauthenticated`, and `unavailable` when the keys of its issuer cannot be fetched. */
  principal(credential: Credential): Promise<Principal> | undefined
}

/** The services whose assertions are accepted. */
export interface TrustedServices {
  readonly issuers: readonly TrustedIssuer[]
  readonly fetchJson: FetchJson
  /** Names this run of the service, which remembers the assertions that were used in it, and no others. A UUID. */
  readonly nonce: string
}

interface Options extends TrustedServices {
  /** Whether a user of this service has an id. Nobody else may act under it. */
  readonly isLocalUser: (id: string) => boolean
}

/** Seconds by which the clocks of two services may differ. */
const clockSkew = 5

const refuse = (why: string, cause?: unknown, headers: Readonly<Record<string, string>> = {}): ServiceError =>
  new ServiceError('unauthenticated', `The assertion is refused: ${why}.`, {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"', ...headers },
  })

/** Reads a part of a token that nobody has verified; undefined when the token is none. */
const readUnverified = <T>(read: (token: string) => T, token: string): T | undefined => {
  try {
    return read(token)
  } catch {
    return undefined
  }
}

const toPrincipal = ({ iss, jti, sub, username, email, roles, claims, body }: AssertionClaims): Principal => ({
  id: sub,
  username,
  email,
  roles,
  claims: new Set(claims),
  superUser: roles.includes('SUPER_USER'),
  issuer: iss,
  assertion: jti,
  ...(body !== undefined && { bodyDigest: body }),
})

/** Accepts the assertions of these issuers and refuses all others. */
export const createTrustedIssuers = ({ issuers, fetchJson, isLocalUser, nonce }: Options): TrustedIssuers => {
  const used = createUsedAssertions(clockSkew)
  const keysByIssuer = new Map<TrustedIssuer, IssuerKeys>(
    issuers.map(issuer => [issuer, createIssuerKeys(issuer.jwks, issuer.algorithm, fetchJson)]),
  )

  const verifySignature = async (token: string, issuer: TrustedIssuer, at: number): Promise<AssertionClaims> => {
    const findKey = async (keyId: string | undefined) => {
      const key = await keysByIssuer.get(issuer)?.find(keyId)
      if (!key) throw refuse('its key is not one of its issuer')
      return key
    }
    try {
      const { payload } = await jwtVerify(token, ({ kid }: { kid?: string | undefined }) => findKey(kid), {
        algorithms: [issuer.algorithm],
        typ: assertionType,
        issuer: issuer.issuer,
        audience: issuer.audience,
        clockTolerance: clockSkew,
        currentDate: new Date(at),
      })
      return AssertionClaims.parse(payload)
    } catch (error) {
      // What `findKey` has thrown says more than the library would: the keys cannot be fetched, or have no such key.
      if (isFault(error, 'unavailable') || isFault(error, 'unauthenticated')) throw error
      throw refuse('it is not valid, expired, or for another service', error)
    }
  }

  const checkTimes = ({ iat, exp }: AssertionClaims): void => {
    const now = Date.now() / 1000
    if (exp <= iat || exp - iat > assertionLifetime)
      throw refuse(`it is valid for more than ${assertionLifetime} seconds`)
    if (iat > now + clockSkew) throw refuse('it is from the future; compare the clocks of both services')
  }

  const verify = async (token: string, credential: Credential): Promise<Principal> => {
    const issuer = issuers.find(one => one.issuer === readUnverified(decodeJwt, token)?.iss)
    if (!issuer) throw refuse('its issuer is not in the setting trusted_issuers')
    const { admittedAt } = credential
    const claims = await verifySignature(token, issuer, admittedAt ?? Date.now())
    checkTimes(claims)
    if (isLocalUser(claims.sub)) throw refuse('a user of this service has the id of its user')
    // A connection that it has opened outlives it: the issuer ends the connection with the rights of the user.
    if (admittedAt !== undefined) return toPrincipal(claims)
    const isFirstUse = used.use(claims.jti, credential)
    if (credential.changes) {
      if (!isFirstUse) throw refuse('it was used before')
      if (claims.nonce !== nonce)
        throw refuse(
          `it is for another run of this service; the header ${nonceHeader} names the present one`,
          undefined,
          {
            [nonceHeader]: nonce,
          },
        )
    }
    return toPrincipal(claims)
  }

  return {
    principal(credential) {
      const { bearer } = credential
      if (bearer === undefined || readUnverified(decodeProtectedHeader, bearer)?.typ !== assertionType) return undefined
      return verify(bearer, credential)
    },
  }
}
