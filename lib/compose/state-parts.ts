import { hash, type KeyObject } from 'node:crypto'
import type { Every } from '#lib/async/every.ts'
import { type Audit, openAudit } from '#lib/audit/audit.ts'
import { type Identity, openIdentity } from '#lib/auth/identity.ts'
import type { KeyKeeper } from '#lib/auth/key-keeper.ts'
import { type KeyRing, openKeyRing } from '#lib/auth/key-ring.ts'
import type { Passwords } from '#lib/auth/passwords.ts'
import { loadPepper } from '#lib/auth/pepper.ts'
import type { RootPasswordUse } from '#lib/auth/root-confirmation.ts'
import { loadPrivateKey } from '#lib/auth/signing-key.ts'
import type { TrustedServices } from '#lib/auth/assertions/trusted-issuers.ts'
import { type Events, openEvents } from '#lib/events/events.ts'
import { openIdempotency, type RunIdempotent } from '#lib/idempotency/idempotency.ts'
import type { Logger } from '#lib/platform/log.ts'
import { type ManagerRecords, openManagerRecords } from '#lib/remote-catalogs/managers/records.ts'
import type { Store } from '#lib/storage/store.ts'
import { openUserConfigs, type UserConfigs } from '#lib/user-configs/user-configs.ts'
import type { Config } from './config.ts'

/** What every program with users has in its store. */
export interface StateParts extends AsyncDisposable {
  readonly keys: KeyRing
  readonly identity: Identity
  readonly audit: Audit
  readonly userConfigs: UserConfigs
  readonly managerRecords: ManagerRecords
  readonly events: Events
  readonly idempotency: { readonly run: RunIdempotent }
}

/** The settings of these parts. */
export type StateSettings = Pick<
  Config,
  | 'audit_days'
  | 'audit_kept'
  | 'events_days'
  | 'events_kept'
  | 'lockout_address_attempts'
  | 'lockout_attempts'
  | 'lockout_delay'
  | 'lockout_limit'
  | 'lockout_memory'
  | 'password_max_length'
  | 'password_min_length'
  | 'password_require'
  | 'root_password'
  | 'token_algorithm'
  | 'token_lifetime'
>

/** What a program hands in: one with a state folder, or one whose store is elsewhere. */
export interface StatePartsPorts {
  readonly store: Store
  readonly keeper: KeyKeeper
  readonly passwords: Passwords
  readonly every: Every
  readonly auditLog: Pick<Logger, 'error'>
  readonly settings: StateSettings
  /** The services whose assertions about users are accepted; none by default. */
  readonly trusted?: TrustedServices | undefined
  /** When the setting `root_password` is applied; at each start by default. */
  readonly rootPasswordUse?: RootPasswordUse
  /** The store was restored from a backup since the last start. */
  readonly restored?: boolean
  /** Replaces the private key by calling `putInPlace`, and updates around it what else depends on that key. */
  readonly replaceKey?: (next: KeyObject, putInPlace: () => Promise<void>) => Promise<void>
}

const replaceOnly = (_: KeyObject, putInPlace: () => Promise<void>): Promise<void> => putInPlace()

/** Opens the users, the audit and the events of a store. The caller closes the store and the passwords after these parts. */
export const openStateParts = async ({
  store,
  keeper,
  passwords,
  every,
  auditLog,
  settings,
  trusted,
  rootPasswordUse,
  restored = false,
  replaceKey = replaceOnly,
}: StatePartsPorts): Promise<StateParts> => {
  await using stack = new AsyncDisposableStack()
  const keys = await openKeyRing({
    keeper,
    algorithm: settings.token_algorithm,
    lifetime: settings.token_lifetime,
    privateKey: await loadPrivateKey(keeper),
    replace: replaceKey,
  })
  const retention = { days: settings.events_days, entries: settings.events_kept }
  const events = stack.adopt(await openEvents(store, { every, restored, retention }), resource => resource.close())
  const userConfigs = openUserConfigs(store, events.publish)
  const managerRecords = openManagerRecords(store)
  const pepper = await loadPepper(keeper)
  const idempotency = stack.adopt(openIdempotency(store, { pepper, every }), resource => resource.close())
  const identity = await openIdentity({
    store,
    publish: events.publish,
    passwords,
    keys,
    pepper,
    sha256: text => hash('sha256', text),
    policy: {
      password: {
        minLength: settings.password_min_length,
        maxBytes: settings.password_max_length,
        requiredKinds: settings.password_require,
      },
      lockout: {
        attempts: settings.lockout_attempts,
        addressAttempts: settings.lockout_address_attempts,
        delay: settings.lockout_delay,
        maxDelay: settings.lockout_limit,
        resetAfter: settings.lockout_memory,
      },
      tokenLifetime: settings.token_lifetime,
    },
    trusted,
    rootPassword: settings.root_password,
    rootPasswordUse,
    onRemoveUser: [userConfigs.prepareRemoval, managerRecords.prepareRemoval],
  })
  const audit = stack.adopt(
    openAudit({
      store,
      log: auditLog,
      every,
      retention: { days: settings.audit_days, entries: settings.audit_kept },
    }),
    resource => resource.close(),
  )
  const resources = stack.move()
  return {
    keys,
    identity,
    audit,
    userConfigs,
    managerRecords,
    events,
    idempotency,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
