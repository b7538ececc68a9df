import type { Every } from '#lib/async/every.ts'
import { createCatalog, openCatalogContext } from '#lib/catalog/catalog.ts'
import { messageOf } from '#lib/errors.ts'
import type { HibernatingSockets } from '#lib/events/hibernating/socket.ts'
import { createHibernatingSubscriptions, type HibernatingSubscriptions } from '#lib/events/hibernating/subscriptions.ts'
import { createHub } from '#lib/events/hub.ts'
import { createEventStreams } from '#lib/events/stream.ts'
import { createHealth } from '#lib/health/health.ts'
import type { hostServiceNames } from '#lib/hosts/forward/forward-route.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { ApiDescription } from '#lib/http/openapi.ts'
import { type Jobs, openJobs } from '#lib/jobs/jobs.ts'
import { createMetrics, type Metrics } from '#lib/metrics/metrics.ts'
import { createFetchFetcher } from '#lib/objects/http/send-over-fetch.ts'
import { createRemoteKinds } from '#lib/objects/remote-kinds.ts'
import { createStorages } from '#lib/objects/storages.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { createFetchOutgoing } from '#lib/platform/outgoing-fetch.ts'
import { createManagerServices } from '#lib/remote-catalogs/managers/manager-services.ts'
import { defaultLimits } from '#lib/remote-catalogs/remote-client.ts'
import type { Store } from '#lib/storage/store.ts'
import { createServedPacks } from '#lib/transfers/hosted/served-packs.ts'
import { createTransfersOnDemand } from '#lib/transfers/hosted/load-on-demand.ts'
import { openControlHosts } from './hosts/control-hosts.ts'
import type { EdgeConfig } from './edge-config.ts'
import { createAuditCheck, createStoreCheck } from './health/health-checks.ts'
import { composePublicServices } from './public-services.ts'
import type { Services } from './services.ts'
import type { StateParts } from './state-parts.ts'
import { composeStateServices } from './state-services.ts'

/** What a control hands in for its services. */
interface ControlServicePorts {
  readonly routes: readonly Route[]
  readonly loadApiDescription: () => Promise<ApiDescription>
  readonly store: Store
  readonly state: StateParts
  readonly every: Every
  readonly settings: EdgeConfig
  readonly sockets: HibernatingSockets
}

/** The services that a control has itself. Those that only a host has are not among them. */
type OwnServices = Omit<Services, (typeof hostServiceNames)[number]>

interface ControlServices {
  readonly services: OwnServices
  readonly jobs: Jobs
  readonly metrics: Metrics
  readonly subscriptions: HibernatingSubscriptions
  /** Whether any host is registered. */
  hasHosts(): boolean
}

/** Milliseconds between two searches for hosts that have become silent. */
const hostCheckInterval = 15_000

const onDefect = (error: unknown): void =>
  getAreaLogger('jobs').error('Work failed unexpectedly: {reason}', { reason: messageOf(error), error })

/** Composes the services of a control: those that need a store and requests over `fetch`, and no machines. */
export const openControlServices = async ({
  routes,
  loadApiDescription,
  store,
  state,
  every,
  settings,
  sockets,
}: ControlServicePorts): Promise<ControlServices> => {
  const { events, audit, managerRecords } = state
  const { publish } = events
  const catalog = await openCatalogContext({
    store,
    publish,
    startWorker: undefined,
    manifestsPerUser: settings.manifests_per_user,
    storages: createStorages(createRemoteKinds(createFetchFetcher)),
  })
  const managers = createManagerServices({
    store,
    publish,
    records: managerRecords,
    outgoing: createFetchOutgoing({ allowed: settings.outgoing_addresses }),
    limits: defaultLimits,
  })
  const hosts = await openControlHosts({
    store,
    publish,
    keys: state.keys,
    issuer: settings.issuer,
    fetch,
  })
  const servedPacks = createServedPacks()
  every(hostCheckInterval, () => void hosts.publishUnreachable().catch(onDefect))
  const hub = createHub(events, every)
  const subscriptions = createHibernatingSubscriptions({
    events,
    hub,
    sockets,
    sessions: state.identity.sessionReferences,
    every,
    limits: { user: settings.subscriptions_per_user, all: settings.subscriptions },
  })
  const metrics = createMetrics()
  const jobs = await openJobs({
    store,
    publish,
    every,
    onEnded: metrics.countJob,
    onDefect,
  })
  return {
    services: {
      ...composePublicServices({ routes, loadApiDescription, getFailure: () => store.failure }),
      ...composeStateServices(state),
      ...managers,
      ...hosts.services,
      catalog: createCatalog(catalog),
      servedPacks,
      transfers: createTransfersOnDemand({
        catalog,
        hosts: hosts.transferHosts,
        servedPacks,
        warn: text => getAreaLogger('catalog').warning('{text}', { text }),
      }),
      jobs,
      metrics,
      openStream: createEventStreams({ events, hub }).open,
      subscriptions,
      health: createHealth({ storage: createStoreCheck(store), audit: createAuditCheck(audit) }),
    },
    jobs,
    metrics,
    subscriptions,
    hasHosts: hosts.hasAny,
  }
}
