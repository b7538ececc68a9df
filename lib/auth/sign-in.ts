import type { Stored } from '#lib/storage/store.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Accounts } from './accounts.ts'
import { type ApiKeys, type KeyPrincipal, parseCredential } from './api-keys.ts'
import type { User } from './directory-schemas.ts'
import type { Lockout } from './lockout.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from '#lib/access/principal.ts'
import type { Tokens } from './tokens.ts'

export interface Credentials {
  readonly email?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly api_key?: string | undefined
}

/**
 * Finds out who has these credentials, and what a token of theirs depends on. Throws `invalid` for incomplete credentials,
 * `unauthenticated` for wrong ones, and `locked-out` after too many failures.
 */
export type Identify = (
  credentials: Credentials,
  address: string,
  /** Called with the user as soon as it is known, also when the sign-in fails afterwards. */
  setActor?: (who: Pick<Principal, 'id' | 'username'>) => void,
) => Promise<{ readonly principal: Principal; readonly basis: TokenBasis }>

/** Issues a token for a password or an API key; `expires_at` is in seconds since 1970. Throws as `Identify` does. */
export type SignIn = (
  ...credentials: Parameters<Identify>
) => Promise<{ readonly email: string; readonly expires_at: number; readonly token: string }>

const createInvalidRequestError = (message: string): ServiceError => new ServiceError('invalid', message)

const createUnauthenticatedError = (message = 'Invalid User or Password'): ServiceError =>
  new ServiceError('unauthenticated', message, { extra: { error: 'invalid_grant', error_description: message } })

/** What a token was issued for: a generation of the password, or an API key. The token ends with it. */
export type TokenBasis = { readonly gen: number } | { readonly api_key_id: string }

interface Options {
  readonly accounts: Pick<Accounts, 'find' | 'principal' | 'rehash'>
  readonly apiKeys: Pick<ApiKeys, 'principal'>
  readonly passwords: Passwords
  readonly lockout: Pick<Lockout, 'guard'>
}

/** Takes an API key, or `email` or `username` with a password; either may hold an e-mail address, a user name or an id. */
export const createIdentify = ({ accounts, apiKeys, passwords, lockout }: Options): Identify => {
  const checkPassword = async (
    user: (User & Stored) | undefined,
    { identifier, password, address }: Record<'identifier' | 'password' | 'address', string>,
  ): Promise<User & Stored> => {
    // Unknown users are counted and compared too, so that neither the answer nor the time tells who exists.
    const matches = await lockout.guard({ userId: user?.id, identifier, address }, () =>
      passwords.verify(password, user?.password),
    )
    if (!matches || !user?.password) throw createUnauthenticatedError()
    // The password was right, even if its new hash cannot be stored.
    if (passwords.isOutdated(user.password)) await accounts.rehash(user, password).catch(() => undefined)
    return user
  }
  const checkApiKey = async (credential: string, address: string): Promise<KeyPrincipal> => {
    const given = parseCredential(credential)
    if (!given) throw createInvalidRequestError('api_key must be base64 of KEY:SECRET.')
    let found: KeyPrincipal | undefined
    let failure: unknown
    await lockout.guard({ userId: undefined, identifier: `api key ${given.key}`, address }, async () => {
      found = await apiKeys.principal(credential).catch((error: unknown) => {
        failure = error
        return undefined
      })
      return found !== undefined
    })
    if (found) return found
    throw isFault(failure, 'unauthenticated') ? createUnauthenticatedError(failure.message) : failure
  }
  return async ({ email, username, password, api_key: apiKey }, address, setActor = () => {}) => {
    if (apiKey) {
      const principal = await checkApiKey(apiKey, address)
      setActor(principal)
      return { principal, basis: { api_key_id: principal.apiKeyId } }
    }
    const identifier = email || username
    if (!identifier) throw createInvalidRequestError('Either email, username or api_key must be provided.')
    if (!password) throw createInvalidRequestError(`Password is required for ${email ? 'email' : 'username'} login.`)
    const found = await accounts.find(identifier)
    if (found) setActor(found)
    const user = await checkPassword(found, { identifier, password, address })
    const principal = await accounts.principal(user.id)
    if (!principal) throw createUnauthenticatedError()
    return { principal, basis: { gen: user.generation } }
  }
}

/** Signs in: who is identified gets a token. */
export const createSignIn =
  (identify: Identify, tokens: Pick<Tokens, 'issue'>): SignIn =>
  async (...credentials) => {
    const { principal, basis } = await identify(...credentials)
    const { id: uid, email, username, roles, claims } = principal
    const user = { uid, email, username, roles: [...roles], claims: [...claims] }
    const { token, expiresAt } = await tokens.issue({ ...user, ...basis })
    return { email, expires_at: expiresAt, token }
  }
