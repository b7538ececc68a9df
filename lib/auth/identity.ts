import type { Tell } from '#lib/events/events.ts'
import type { Services } from '#lib/services.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import { createAccounts } from './accounts.ts'
import { createApiKeys } from './api-keys.ts'
import { createAuthenticate } from './authenticate.ts'
import { createClaims } from './claim-list.ts'
import { openDirectory } from './directory.ts'
import type { KeyRing } from './key-ring.ts'
import { openLockout } from './lockout.ts'
import type { LockoutPolicy } from './lockout-policy.ts'
import { createChangeOwnPassword } from './own-password.ts'
import { createPasswordRules, type PasswordPolicy } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from './principal.ts'
import { openRevocations } from './revocations.ts'
import { createRoles } from './roles.ts'
import { createSessions } from './sessions.ts'
import { createSignIn } from './sign-in.ts'
import { createTokens } from './tokens.ts'
import { createUsers } from './users.ts'

type IdentityServices =
  | 'signIn'
  | 'tokens'
  | 'sessions'
  | 'changeOwnPassword'
  | 'keys'
  | 'apiKeys'
  | 'users'
  | 'roles'
  | 'claims'

/** Who people and programs are, and what they may do: the services that are about it, made to fit. */
export interface Identity {
  readonly services: Pick<Services, IdentityServices>
  readonly authenticate: ReturnType<typeof createAuthenticate>
  /** What the user of this id may do now; undefined when there is none. */
  principal(id: string): Promise<Principal | undefined>
  /** What root may do, for those who need no credential because the host is theirs. */
  root(): Promise<Principal>
  /** The password that was made up for root, on the first start alone. */
  readonly newPassword: string | undefined
}

interface Options {
  readonly store: Store
  readonly tell: Tell
  readonly passwords: Passwords
  readonly keys: KeyRing
  readonly pepper: Uint8Array
  /** Synchronous SHA-256 of a text. */
  readonly digest: (text: string) => string
  readonly policy: {
    readonly password: PasswordPolicy
    readonly lockout: LockoutPolicy
    /** Seconds that a token lives. */
    readonly tokenLifetime: number
  }
  /** Root's password from now on, if it is given. */
  readonly rootPassword: string | undefined
  /** What belongs to users outside of this folder: the writes that delete it together with the user. */
  readonly belongings?: readonly ((userId: string) => Promise<readonly Write[]>)[]
}

export const openIdentity = async (options: Options): Promise<Identity> => {
  const { store, tell, passwords, keys, pepper, digest, policy, rootPassword, belongings = [] } = options
  const rules = createPasswordRules(policy.password)
  const directory = await openDirectory(store, tell)
  const accounts = createAccounts({ directory, passwords, rules })
  const { id: rootId, newPassword } = await accounts.ensureRoot(rootPassword)
  const lockout = await openLockout(store, policy.lockout)
  const apiKeys = createApiKeys({ store, tell, accounts, pepper })
  const tokens = createTokens({ keys, lifetime: policy.tokenLifetime, digest })
  const revocations = await openRevocations(store)
  const sessions = createSessions({ tokens, revocations, accounts, directory, apiKeys })
  const users = createUsers({
    directory,
    passwords,
    rules,
    lockout,
    rootId,
    belongings: [apiKeys.removalOf, ...belongings],
  })
  return {
    services: {
      signIn: createSignIn({ accounts, apiKeys, passwords, lockout, tokens }),
      tokens: sessions,
      sessions,
      changeOwnPassword: createChangeOwnPassword({ accounts, passwords, lockout, rules }),
      keys,
      apiKeys,
      users,
      roles: createRoles(directory),
      claims: createClaims(directory),
    },
    authenticate: createAuthenticate({ sessions, apiKeys }),
    principal: accounts.principal,
    root: async () => (await accounts.principal(rootId))!,
    newPassword,
  }
}
