import type { IdentityServices } from '#lib/auth/identity-services.ts'
import type { Audit } from '#lib/audit/audit.ts'
import type { Cache } from '#lib/transfers/cache/cache.ts'
import type { Catalog } from '#lib/catalog/catalog.ts'
import type { ServedPacks } from '#lib/transfers/hosted/served-packs.ts'
import type { Transfers } from '#lib/transfers/transfers.ts'
import type { Events } from '#lib/events/events.ts'
import type { OpenEventStream } from '#lib/events/stream.ts'
import type { Subscriptions } from '#lib/events/subscriptions.ts'
import type { Health } from '#lib/health/health.ts'
import type { Readiness } from '#lib/health/readiness.ts'
import type { Forwarding } from '#lib/hosts/forward/forwarding.ts'
import type { Hosts } from '#lib/hosts/hosts.ts'
import type { OpenApiService } from '#lib/http/openapi.ts'
import type { Images } from '#lib/images/images.ts'
import type { Jobs } from '#lib/jobs/jobs.ts'
import type { Pools } from '#lib/pools/pools.ts'
import type { SnapshotSchedules } from '#lib/snapshot-schedules/snapshot-schedules.ts'
import type { License } from '#lib/license/license.ts'
import type { ManagedCatalogs } from '#lib/remote-catalogs/managers/managed-catalogs.ts'
import type { CatalogManagers } from '#lib/remote-catalogs/managers/managers.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { Tunnels } from '#lib/machines/tunnels/tunnels.ts'
import type { Ssh } from '#lib/ssh/ssh.ts'
import type { Metrics } from '#lib/metrics/metrics.ts'
import type { UserConfigs } from '#lib/user-configs/user-configs.ts'

declare module '#lib/http/services.ts' {
  /** The services that handlers use. Each endpoint names in `uses` the ones that it needs. `lib/compose` creates them. */
  interface Services extends IdentityServices {
    readonly audit: Pick<Audit, 'readPage'>
    readonly userConfigs: UserConfigs
    readonly catalog: Catalog
    readonly transfers: Transfers
    readonly catalogCache: Pick<Cache, 'list' | 'remove'>
    readonly catalogManagers: Pick<CatalogManagers, 'list' | 'show' | 'create' | 'update' | 'remove'>
    readonly managedCatalogs: ManagedCatalogs
    readonly events: Pick<Events, 'resolveCursor' | 'read'>
    readonly openStream: OpenEventStream
    readonly subscriptions: Pick<Subscriptions, 'admit' | 'unsubscribe' | 'clients' | 'stats'>
    readonly jobs: Pick<Jobs, 'list' | 'show' | 'cancel' | 'remove' | 'removeEnded'>
    readonly metrics: Pick<Metrics, 'render'>
    readonly machines: Machines
    readonly pools: Omit<Pools, 'close'>
    readonly snapshotSchedules: Omit<SnapshotSchedules, 'close'>
    readonly tunnels: Pick<Tunnels, 'admit'>
    readonly images: Omit<Images, 'removeUnused'>
    readonly ssh: Pick<Ssh, 'execute'>
    readonly license: License
    readonly hosts: Hosts
    readonly forwarding: Forwarding
    readonly servedPacks: Pick<ServedPacks, 'open'>
    readonly health: Health
    readonly readiness: Readiness
    readonly openapi: OpenApiService
  }
}

export type { Services } from '#lib/http/services.ts'
