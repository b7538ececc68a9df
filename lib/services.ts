import type { Audit } from './audit/audit.ts'
import type { ApiKeys } from './auth/api-keys.ts'
import type { Claims } from './auth/claim-list.ts'
import type { KeyRing } from './auth/key-ring.ts'
import type { ChangeOwnPassword } from './auth/own-password.ts'
import type { Roles } from './auth/roles.ts'
import type { Sessions } from './auth/sessions.ts'
import type { SignIn } from './auth/sign-in.ts'
import type { Tokens } from './auth/tokens.ts'
import type { Users } from './auth/users.ts'
import type { Cache } from './catalog/cache/cache.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Transfers } from './catalog/transfers/transfers.ts'
import type { Events } from './events/events.ts'
import type { OpenStream } from './events/stream.ts'
import type { Subscriptions } from './events/subscriptions.ts'
import type { Health } from './health/health.ts'
import type { Document } from './http/openapi.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { License } from './license/license.ts'
import type { ManagedCatalogs } from './managers/managed-catalogs.ts'
import type { CatalogManagers } from './managers/managers.ts'
import type { Machines } from './machines/machines.ts'
import type { Ssh } from './ssh/ssh.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { UserConfigs } from './user-configs/user-configs.ts'

/** Everything that handlers draw from; each names in its contract what it uses. `lib/entry` makes them. */
export interface Services {
  readonly signIn: SignIn
  /** What the validation of tokens asks: on the host, whether it still stands for somebody. */
  readonly tokens: Pick<Tokens, 'verify'>
  readonly sessions: Pick<Sessions, 'end'>
  readonly changeOwnPassword: ChangeOwnPassword
  readonly keys: Pick<KeyRing, 'rotate' | 'publicKeys'>
  readonly users: Users
  readonly roles: Roles
  readonly claims: Claims
  readonly apiKeys: ApiKeys
  readonly audit: Pick<Audit, 'page'>
  readonly userConfigs: UserConfigs
  readonly catalog: Catalog
  readonly transfers: Transfers
  readonly catalogCache: Pick<Cache, 'list' | 'remove'>
  readonly catalogManagers: Pick<CatalogManagers, 'list' | 'show' | 'create' | 'update' | 'remove'>
  readonly managedCatalogs: ManagedCatalogs
  readonly events: Pick<Events, 'place' | 'read'>
  readonly openStream: OpenStream
  readonly subscriptions: Pick<Subscriptions, 'admit' | 'unsubscribe' | 'clients' | 'stats'>
  readonly jobs: Pick<Jobs, 'list' | 'show' | 'cancel' | 'remove' | 'clean'>
  readonly metrics: Pick<Metrics, 'show'>
  readonly machines: Machines
  readonly ssh: Pick<Ssh, 'execute'>
  readonly license: License
  readonly health: Health
  readonly openapi: Document
}
