import { ServiceError } from '#lib/errors.ts'
import type { Accounts } from './accounts.ts'
import type { Passwords } from './passwords.ts'
import type { Tokens } from './tokens.ts'

export interface Credentials {
  readonly email?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Gives a token for the right password; `expires_at` in seconds since 1970. */
export type SignIn = (
  credentials: Credentials,
) => Promise<{ readonly email: string; readonly expires_at: number; readonly token: string }>

const incomplete = (message: string): ServiceError =>
  new ServiceError('invalid', message, { extra: { error: 'invalid_request', error_description: message } })

const refused = (): ServiceError => {
  const message = 'Invalid User or Password'
  return new ServiceError('unauthenticated', message, { extra: { error: 'invalid_grant', error_description: message } })
}

interface Options {
  readonly accounts: Accounts
  readonly passwords: Passwords
  readonly tokens: Pick<Tokens, 'issue'>
}

/** Sign-in with `email` or `username`: either may hold an e-mail address, a user name or an id. */
export const createSignIn =
  ({ accounts, passwords, tokens }: Options): SignIn =>
  async credentials => {
    const identifier = credentials.email || credentials.username
    if (!identifier) throw incomplete('Either email or username must be provided.')
    if (!credentials.password)
      throw incomplete(`Password is required for ${credentials.email ? 'email' : 'username'} login.`)
    const user = await accounts.find(identifier)
    // Unknown users cost a comparison too, so that time does not tell who exists.
    if (!(await passwords.verify(credentials.password, user?.password)) || !user) throw refused()
    const { id: uid, email, username, roles, claims } = user
    const { token, expiresAt } = await tokens.issue({ uid, email, username, roles, claims })
    return { email, expires_at: expiresAt, token }
  }
