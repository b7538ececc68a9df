import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store, Write } from '#lib/storage/store.ts'
import { createAccounts } from './accounts.ts'
import { createApiKeys } from './api-keys.ts'
import { createAuthenticate } from './authenticate.ts'
import type { Authenticate } from '#lib/access/credential.ts'
import type { RedeemTicket, SessionReferences } from '#lib/access/session-reference.ts'
import { createBrowserSessions } from './browser/sessions.ts'
import { createLinks } from './browser/links.ts'
import { createClaims } from './claim-list.ts'
import { openDirectory } from './directory.ts'
import type { KeyRing } from './key-ring.ts'
import type { IdentityServices } from './identity-services.ts'
import { openLockout } from './lockout.ts'
import type { LockoutPolicy } from './lockout-policy.ts'
import { createChangeOwnPassword } from './own-password.ts'
import { createPasswordRules, type PasswordPolicy } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import type { Principal } from '#lib/access/principal.ts'
import { openRevocations } from './revocations.ts'
import { createRoles } from './roles.ts'
import { createRootConfirmation, type RootPasswordUse } from './root-confirmation.ts'
import { createSessionReferences } from './session-references.ts'
import { createSessions } from './sessions.ts'
import { createIdentify, createSignIn } from './sign-in.ts'
import { createTickets } from './tickets/tickets.ts'
import { createTokens } from './tokens.ts'
import { createTrustedIssuers, type TrustedServices } from './assertions/trusted-issuers.ts'
import { createUsers } from './users.ts'

/** Users, credentials and rights: the services of identity, and the authentication of requests. */
export interface Identity {
  readonly services: IdentityServices
  readonly authenticate: Authenticate
  readonly redeemTicket: RedeemTicket
  /** The sessions of connections that outlive the memory of the program. */
  readonly sessionReferences: SessionReferences
  /**
   * The present rights of a user, or of the user's API key if one was used. Throws `forbidden` when the user does not exist
   * any more, or the key is revoked, expired or gone.
   */
  actingFor(who: { readonly id: string; readonly apiKeyId: string | undefined }): Promise<Principal>
  /** The principal of root, for the command line, which proves its right by access to the state folder. */
  root(): Promise<Principal>
  /** The password that the first start generated for root; undefined on every other start. */
  readonly newPassword: string | undefined
}

interface Options {
  readonly store: Store
  readonly publish: Publish
  readonly passwords: Passwords
  readonly keys: KeyRing
  readonly pepper: Uint8Array
  /** Computes the SHA-256 of a text synchronously. */
  readonly sha256: (text: string) => string
  readonly policy: {
    readonly password: PasswordPolicy
    readonly lockout: LockoutPolicy
    /** Seconds that a token lives. */
    readonly tokenLifetime: number
  }
  /** Other services whose assertions about their users are accepted; none when left out. */
  readonly trusted?: TrustedServices | undefined
  /** Becomes root's password, if it is given. */
  readonly rootPassword: string | undefined
  /** At each start when left out. */
  readonly rootPasswordUse?: RootPasswordUse | undefined
  /** Each gives the writes that delete a user's documents in another collection, for the commit that deletes the user. */
  readonly onRemoveUser?: readonly ((userId: string) => Promise<readonly Write[]>)[]
}

/** Opens the identity of a store and makes sure that root exists. Throws `invalid` for a root password that is too weak. */
export const openIdentity = async (options: Options): Promise<Identity> => {
  const { store, publish, passwords, keys, pepper, sha256, policy, trusted, rootPassword, onRemoveUser = [] } = options
  const { rootPasswordUse = 'at each start' } = options
  const rules = createPasswordRules(policy.password)
  const directory = await openDirectory(store, publish)
  const accounts = createAccounts({
    directory,
    passwords,
    rules,
    confirmation: createRootConfirmation(store, pepper, rootPasswordUse),
  })
  const { id: rootId, newPassword } = await accounts.ensureRoot(rootPassword)
  const lockout = await openLockout(store, policy.lockout)
  const apiKeys = createApiKeys({ store, publish, accounts, directory, rootId, pepper })
  const tokens = createTokens({ keys, lifetime: policy.tokenLifetime, sha256 })
  const revocations = await openRevocations(store)
  const sessions = createSessions({ tokens, revocations, directory, apiKeys })
  const sessionReferences = createSessionReferences({ sessions, apiKeys })
  const tickets = createTickets(sessionReferences)
  const identify = createIdentify({ accounts, apiKeys, passwords, lockout })
  const links = createLinks({ store, accounts, rules, sha256 })
  const users = createUsers({
    directory,
    passwords,
    rules,
    lockout,
    rootId,
    onRemoveUser: [apiKeys.prepareRemoval, links.prepareRemoval, ...onRemoveUser],
  })
  return {
    services: {
      signIn: createSignIn(identify, tokens),
      browserSessions: createBrowserSessions({ identify, links, tokens }),
      links,
      tokenVerifier: sessions,
      sessions,
      tickets,
      changeOwnPassword: createChangeOwnPassword({ accounts, passwords, lockout, rules }),
      keys,
      apiKeys,
      users,
      roles: createRoles(directory),
      claims: createClaims(directory),
    },
    authenticate: createAuthenticate({
      sessionReferences,
      sessions,
      apiKeys,
      trustedIssuers: trusted && createTrustedIssuers({ ...trusted, isLocalUser: id => !!directory.users.getSync(id) }),
    }),
    redeemTicket: tickets.redeem,
    sessionReferences,
    async actingFor({ id, apiKeyId }) {
      if (apiKeyId !== undefined)
        return apiKeys.principalOf(apiKeyId).catch((error: unknown) => {
          if (!isFault(error, 'unauthenticated')) throw error
          throw new ServiceError('forbidden', `This was asked for with an API key. ${error.message}`)
        })
      const principal = await accounts.principal(id)
      if (!principal) throw new ServiceError('forbidden', 'Who asked for this is not a user any more.')
      return principal
    },
    async root() {
      const root = await accounts.principal(rootId)
      if (root) return root
      throw new ServiceError(
        'conflict',
        'The user root does not exist any more. Restart the service, which creates it.',
      )
    },
    newPassword,
  }
}
