import type { Every } from '#lib/async/every.ts'
import { messageOf } from '#lib/errors.ts'
import type { NewEvent } from '#lib/events/event.ts'
import type { Events } from '#lib/events/events.ts'
import { type Check, createHealth } from '#lib/health/health.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { ApiDescription } from '#lib/http/openapi.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { ImageContext } from '#lib/images/context.ts'
import { createImages } from '#lib/images/images.ts'
import { type Jobs, openJobs } from '#lib/jobs/jobs.ts'
import { createFreeLicense } from '#lib/license/license.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { createTunnels, type Tunnels } from '#lib/machines/tunnels/tunnels.ts'
import type { Metrics } from '#lib/metrics/metrics.ts'
import { openPools } from '#lib/pools/pools.ts'
import { openSnapshotSchedules } from '#lib/snapshot-schedules/snapshot-schedules.ts'
import type { HostFacts } from '#lib/platform/host-facts.ts'
import type { ManagerRecords } from '#lib/remote-catalogs/managers/records.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Cache } from '#lib/transfers/cache/cache.ts'
import { type CatalogPorts, openCatalogServices } from './catalog-services.ts'
import { type EventPorts, openEventServices } from './event-services.ts'
import { composePublicServices } from './public-services.ts'
import type { controlServiceNames } from './hosts/host-routes.ts'
import type { Services } from './services.ts'
import type { Shutdown } from './shutdown.ts'
import { composeStateServices, type StatePorts } from './state-services.ts'

/** What a program that runs machines hands in: the service, or a test with its own driver, store and network. */
interface HostPorts {
  readonly routes: readonly Route[]
  readonly loadApiDescription: () => Promise<ApiDescription>
  readonly state: StatePorts & {
    readonly store: Store
    readonly events: Events
    readonly managerRecords: ManagerRecords
  }
  readonly driver: Pick<HypervisorDriver, 'kind' | 'platform'>
  readonly machines: Machines
  readonly images: ImageContext
  readonly facts: Pick<HostFacts, 'id' | 'cpus' | 'memory'>
  readonly ssh: Services['ssh']
  readonly catalog: CatalogPorts
  readonly every: Every
  readonly eventReaders: Omit<EventPorts, 'every'>
  readonly metrics: Metrics
  readonly healthChecks: Readonly<Record<string, Check>>
  /** Called with each defect of a job. */
  readonly onJobDefect: (error: unknown) => void
  /** Called when the work of a pool has failed, which it tries again. */
  readonly onPoolFailed: (pool: string, error: unknown) => void
  readonly schedules: Pick<Parameters<typeof openSnapshotSchedules>[0], 'findUser' | 'record' | 'onFailed'>
  /** Closes the parts that are opened here. */
  readonly shutdown: Pick<Shutdown, 'add'>
}

interface HostServices {
  readonly services: Omit<Services, (typeof controlServiceNames)[number]>
  readonly jobs: Jobs
  readonly tunnels: Pick<Tunnels, 'listAssertions'>
  readonly cache: Cache
  /** Removes what earlier processes have left and no resumed job uses. Call it after the resumed ones have ended. */
  removeUnused(): Promise<void>
  /** Sends an event to the present readers without storing it in the log. */
  broadcast(event: NewEvent): void
  /** Adds what closes before the connections to the shutdown. Call it when the connections are open. */
  addWorkToShutdown(): void
}

/** Waits for all parts, also after a failure. Throws an error with the messages of all failures. */
const waitForAll = async (parts: readonly Promise<void>[]): Promise<void> => {
  const results = await Promise.allSettled(parts)
  const messages = results.flatMap(result => (result.status === 'rejected' ? [messageOf(result.reason)] : []))
  if (messages.length > 0) throw new Error(messages.join(' '))
}

/** Composes the services of a program that runs machines: all of them. */
export const openHostServices = async ({
  routes,
  loadApiDescription,
  state,
  driver,
  machines,
  images: imageContext,
  facts,
  ssh,
  catalog,
  every,
  eventReaders,
  metrics,
  healthChecks,
  onJobDefect,
  onPoolFailed,
  schedules,
  shutdown,
}: HostPorts): Promise<HostServices> => {
  const { store, events, managerRecords } = state
  const { publish } = events
  const catalogParts = await openCatalogServices(catalog, { store, publish, managerRecords, machines, driver })

  const images = createImages(imageContext, machines)

  const pools = await openPools({ store, publish, machines, every, onFailed: onPoolFailed })
  // Only for a start that fails later, as with the jobs.
  shutdown.add('pools', 'work', pools.close)
  const snapshotSchedules = await openSnapshotSchedules({ store, publish, machines, every, ...schedules })
  shutdown.add('schedules of snapshots', 'work', snapshotSchedules.close)

  const jobs = await openJobs({ store, publish, every, onEnded: metrics.countJob, onDefect: onJobDefect })
  // Only for a start that fails later. A shutdown has closed the jobs before (see `work under way`) and has logged the rest.
  shutdown.add('jobs', 'work', deadline => jobs.close(deadline).catch(() => {}))

  const readers = openEventServices(events, { every, ...eventReaders })
  shutdown.add('readers of events', 'rest', () => readers[Symbol.dispose]())
  const { subscriptions, streams } = readers

  const tunnels = createTunnels(every)
  shutdown.add('tunnels', 'rest', () => tunnels[Symbol.dispose]())

  return {
    services: {
      ...composePublicServices({ routes, loadApiDescription, getFailure: () => store.failure }),
      ...composeStateServices(state),
      ...catalogParts.services,
      jobs,
      openStream: streams.open,
      subscriptions,
      metrics,
      machines,
      pools,
      snapshotSchedules,
      tunnels,
      images,
      ssh,
      license: createFreeLicense(driver.kind, facts),
      health: createHealth(healthChecks),
    },
    jobs,
    tunnels,
    cache: catalogParts.cache,
    async removeUnused() {
      await catalogParts.removeUnused()
      await images.removeUnused()
    },
    broadcast: readers.broadcast,
    addWorkToShutdown() {
      // Streams and WebSockets close before the listener, which waits until every connection has ended.
      shutdown.add('streams', 'connections', () => streams[Symbol.dispose]())
      shutdown.add('tunnels to guests', 'connections', () => tunnels[Symbol.dispose]())
      shutdown.add('WebSockets', 'connections', () => subscriptions[Symbol.asyncDispose]())
      // Added last, so it is first: jobs and operations end, and their callers get replies before the connections close.
      shutdown.add('work under way', 'work', deadline =>
        waitForAll([pools.close(), snapshotSchedules.close(), jobs.close(deadline), machines.drain(deadline)]),
      )
    },
  }
}
