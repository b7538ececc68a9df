import type { Stored } from '#lib/storage/store.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Accounts } from './accounts.ts'
import { type ApiKeys, readCredential } from './api-keys.ts'
import type { User } from './directory-schemas.ts'
import type { Lockout } from './lockout.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from './principal.ts'
import type { Tokens } from './tokens.ts'

export interface Credentials {
  readonly email?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly api_key?: string | undefined
}

/**
 * Gives a token for the right password or API key; `expires_at` in seconds since 1970. Throws `unauthenticated`, and
 * `locked-out` while there were too many failures.
 */
export type SignIn = (
  credentials: Credentials,
  address: string,
  /** Is told whose sign-in it is, as soon as that is known; also when it fails. */
  identified?: (who: Pick<Principal, 'id' | 'username'>) => void,
) => Promise<{ readonly email: string; readonly expires_at: number; readonly token: string }>

const incomplete = (message: string): ServiceError => new ServiceError('invalid', message)

const refused = (message = 'Invalid User or Password'): ServiceError =>
  new ServiceError('unauthenticated', message, { extra: { error: 'invalid_grant', error_description: message } })

/** What a token was issued for: it ends with it. */
type Proof = { readonly gen: number } | { readonly api_key_id: string }

interface Options {
  readonly accounts: Pick<Accounts, 'find' | 'principal' | 'rehash'>
  readonly apiKeys: Pick<ApiKeys, 'principal'>
  readonly passwords: Passwords
  readonly lockout: Pick<Lockout, 'guard'>
  readonly tokens: Pick<Tokens, 'issue'>
}

/** Sign-in with an API key, or with `email` or `username`: either may hold an e-mail address, a user name or an id. */
export const createSignIn = ({ accounts, apiKeys, passwords, lockout, tokens }: Options): SignIn => {
  const withPassword = async (
    user: (User & Stored) | undefined,
    { identifier, password, address }: Record<'identifier' | 'password' | 'address', string>,
  ): Promise<User & Stored> => {
    // Unknown users are counted, and cost a comparison too, so that neither answer nor time tells who exists.
    const right = await lockout.guard({ userId: user?.id, identifier, address }, () =>
      passwords.verify(password, user?.password),
    )
    if (!right || !user?.password) throw refused()
    // The password was right, whether or not its new hash can be kept.
    if (passwords.isOutdated(user.password)) await accounts.rehash(user, password).catch(() => undefined)
    return user
  }
  const withApiKey = async (credential: string, address: string): Promise<Principal> => {
    const given = readCredential(credential)
    if (!given) throw incomplete('api_key must be base64 of KEY:SECRET.')
    let found: Principal | undefined
    let failure: unknown
    await lockout.guard({ userId: undefined, identifier: `api key ${given.key}`, address }, async () => {
      found = await apiKeys.principal(credential).catch((error: unknown) => {
        failure = error
        return undefined
      })
      return found !== undefined
    })
    if (found) return found
    throw isFault(failure, 'unauthenticated') ? refused(failure.message) : failure
  }
  const issue = async ({ id: uid, email, username, roles, claims }: Principal, proof: Proof) => {
    const user = { uid, email, username, roles: [...roles], claims: [...claims] }
    const { token, expiresAt } = await tokens.issue({ ...user, ...proof })
    return { email, expires_at: expiresAt, token }
  }

  return async ({ email, username, password, api_key: apiKey }, address, identified = () => {}) => {
    if (apiKey) {
      const principal = await withApiKey(apiKey, address)
      identified(principal)
      return issue(principal, { api_key_id: principal.apiKeyId! })
    }
    const identifier = email || username
    if (!identifier) throw incomplete('Either email, username or api_key must be provided.')
    if (!password) throw incomplete(`Password is required for ${email ? 'email' : 'username'} login.`)
    const found = await accounts.find(identifier)
    if (found) identified(found)
    const user = await withPassword(found, { identifier, password, address })
    const principal = await accounts.principal(user.id)
    if (!principal) throw refused()
    return issue(principal, { gen: user.generation })
  }
}
