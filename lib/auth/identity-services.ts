import type { ApiKeys } from './api-keys.ts'
import type { Links } from './browser/links.ts'
import type { BrowserSessions } from './browser/sessions.ts'
import type { Claims } from './claim-list.ts'
import type { KeyRing } from './key-ring.ts'
import type { ChangeOwnPassword } from './own-password.ts'
import type { Roles } from './roles.ts'
import type { Sessions } from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import type { Tickets } from './tickets/tickets.ts'
import type { Tokens } from './tokens.ts'
import type { Users } from './users.ts'

/** The services that the endpoints of identity use. */
export interface IdentityServices {
  readonly signIn: SignIn
  /** Validates tokens. On the host this also checks that the token's user still exists and has not signed out. */
  readonly tokenVerifier: Pick<Tokens, 'verify'>
  readonly sessions: Pick<Sessions, 'end'>
  readonly browserSessions: BrowserSessions
  readonly links: Pick<Links, 'issue'>
  readonly tickets: Pick<Tickets, 'issue'>
  readonly changeOwnPassword: ChangeOwnPassword
  readonly keys: Pick<KeyRing, 'rotate' | 'publicKeys'>
  readonly users: Users
  readonly roles: Roles
  readonly claims: Claims
  readonly apiKeys: ApiKeys
}
