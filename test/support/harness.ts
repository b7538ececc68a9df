import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SetupServer, setupServer } from 'msw/node'
import { test as base } from 'vitest'
import type { Principal } from '#lib/access/principal.ts'
import { openCache } from '#lib/transfers/cache/cache.ts'
import { createCatalog, openCatalogContext } from '#lib/catalog/catalog.ts'
import type { TrustPolicy } from '#lib/packs/sidecar.ts'
import { createStorages } from '#lib/objects/storages.ts'
import { createDownloads } from '#lib/transfers/download/downloads.ts'
import { createTransfers } from '#lib/transfers/transfers.ts'
import { openWorkFolders } from '#lib/transfers/download/work-folders.ts'
import type { Events } from '#lib/events/events.ts'
import { createHub } from '#lib/events/hub.ts'
import { createInProcessGateway } from '#lib/events/in-process.ts'
import { createEventStreams } from '#lib/events/stream.ts'
import { createSubscriptions } from '#lib/events/subscriptions.ts'
import { createHealth } from '#lib/health/health.ts'
import { createReadiness } from '#lib/health/readiness.ts'
import { type App, createApp } from '#lib/http/app.ts'
import type { Outcome } from '#lib/http/outcome.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { createFreeLicense } from '#lib/license/license.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { openManagerRecords } from '#lib/remote-catalogs/managers/records.ts'
import { createRemoteClient, type RemoteLimits, defaultLimits } from '#lib/remote-catalogs/remote-client.ts'
import { createManagerServices } from '#lib/remote-catalogs/managers/manager-services.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { createOutgoing, type SendOutgoing } from '#lib/platform/outgoing.ts'
import { openIdempotency } from '#lib/idempotency/idempotency.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'
import { openUserConfigs } from '#lib/user-configs/user-configs.ts'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { routes } from '#functions/routes.gen.ts'
import { newEventLog } from './events.ts'
import { anyFile, filesIn } from './host-files.ts'
import { newIdentity } from './identity.ts'
import { createSimulatedDriver, type SimulatedDriver } from './drivers/simulated-driver.ts'
import { closeTransport, sendTo } from './transport.ts'

export const host = {
  name: 'host-1',
  id: '00000000-0000-4000-8000-000000000001',
  url: 'https://host-1.example.test:8443',
  externalAddress: '192.0.2.1',
  user: 'farm',
  cpus: 64,
  memory: 1_048_576,
}

interface Ask {
  /** The claims of the caller; null sends no credential. All claims when left out. */
  readonly as?: readonly string[] | null
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- what came over the wire is what the test is about to judge
  readonly body: any
  readonly headers: Headers
}

export type Call = (method: string, path: string, ask?: Ask) => Promise<Answer>
/** As `Call`, with the body unread. */
export type Open = (method: string, path: string, ask?: Ask) => Promise<Response>

const callers = { tester: '00000000-0000-4000-8000-0000000000aa', other: '00000000-0000-4000-8000-0000000000bb' }

/** A caller who holds exactly these claims; `*` holds them all. `other` is another one. */
const principal = (claims: readonly string[]): Principal => ({
  id: claims.includes('other') ? callers.other : callers.tester,
  username: 'tester',
  email: 'tester@example.test',
  roles: claims.includes('*') ? ['SUPER_USER'] : [],
  claims: new Set(claims),
  superUser: claims.includes('*'),
})

/** Sends one request through an app; the bearer is the list of claims that the caller has. */
const openOf = (app: App): Open => {
  const send = sendTo(app)
  return async (method, path, { as = ['*'], body, headers = {}, signal } = {}) =>
    send(path, {
      method,
      headers: { ...(as && { authorization: `Bearer ${as.join(',') || 'nothing'}` }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
}

/** The same, with the reply read. */
export const callOf = (app: App): Call => {
  const open = openOf(app)
  return async (...ask) => {
    const response = await open(...ask)
    const text = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json'
    const answer = text === '' ? undefined : isJson ? JSON.parse(text) : text
    return { status: response.status, body: answer, headers: response.headers }
  }
}

interface Fixtures {
  /** The network as the service sees it: a request that no handler of the test answers fails the test. */
  network: SetupServer
  folder: string
  driver: SimulatedDriver
  eventLog: Awaited<ReturnType<typeof newEventLog>>
  events: Events
  machines: Machines
  /** How other hosts are reached. */
  outgoing: SendOutgoing
  remoteLimits: RemoteLimits
  /** Whom packs have to be signed by. */
  trust: { policy: TrustPolicy; keys: readonly string[] }
  manifestsPerUser: number
  /** Bytes that the catalog's cache may take. */
  cacheBudget: number
  /** What the operator is told. */
  warnings: string[]
  /** What was answered, and by which operation. */
  observed: (Outcome & { readonly operation: string | undefined })[]
  /** What of a job was nobody's mistake but ours. */
  defects: unknown[]
  app: App
  call: Call
  open: Open
}

/** vitest's `test` with a fresh service on the simulated driver; nothing listens and nothing is shared. */
export const test = base.extend<Fixtures>({
  network: [
    // oxlint-disable-next-line no-empty-pattern -- as below
    async ({}, use) => {
      const server = setupServer()
      server.listen({ onUnhandledFrame: 'error' })
      await use(server)
      server.close()
    },
    { auto: true },
  ],
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are used off the pattern
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'vmhost-test-'))
    await use(folder)
    rmSync(folder, { recursive: true })
  },
  driver: async ({ folder }, use) => use(createSimulatedDriver(folder)),
  // oxlint-disable-next-line no-empty-pattern -- as above
  eventLog: async ({}, use) => use(await newEventLog()),
  events: async ({ eventLog }, use) => use(eventLog.events),
  machines: async ({ driver, eventLog }, use) => {
    const machines = await openMachines({ driver, host, stopTimeout: 200, ...eventLog })
    await use(machines)
    await machines.close()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above
  outgoing: async ({}, use) => use(createOutgoing({ allowed: [] })),
  // oxlint-disable-next-line no-empty-pattern -- as above
  remoteLimits: async ({}, use) => use(defaultLimits),
  // oxlint-disable-next-line no-empty-pattern -- as above
  trust: async ({}, use) => use({ policy: 'off', keys: [] }),
  // oxlint-disable-next-line no-empty-pattern -- as above
  manifestsPerUser: async ({}, use) => use(10_000),
  // oxlint-disable-next-line no-empty-pattern -- as above
  cacheBudget: async ({}, use) => use(2 ** 30),
  // oxlint-disable-next-line no-empty-pattern -- as above
  warnings: async ({}, use) => use([]),
  // oxlint-disable-next-line no-empty-pattern -- as above
  observed: async ({}, use) => use([]),
  // oxlint-disable-next-line no-empty-pattern -- as above
  defects: async ({}, use) => use([]),
  app: async (
    {
      folder,
      driver,
      cacheBudget,
      manifestsPerUser,
      trust,
      warnings,
      machines,
      observed,
      defects,
      outgoing,
      remoteLimits,
      eventLog: { store, events },
    },
    use,
  ) => {
    const idempotency = openIdempotency(store, new Uint8Array(32))
    const onDefect = (error: unknown): void => void defects.push(error)
    const jobs = await openJobs({ store, publish: events.publish, onDefect, onEnded: () => {} })
    const hub = createHub(events)
    const subscriptions = createSubscriptions({
      events,
      gateway: createInProcessGateway(hub),
      limits: { user: 3, all: 5 },
    })
    const streams = createEventStreams({ events, hub })
    const storages = createStorages({
      folder: join(folder, 'catalog'),
      hostFiles: await filesIn(folder, [join(folder, 'state')]),
    })
    const startWorker = createStartWorker(new URL('../../lib/entry/main.ts', import.meta.url))
    const catalog = await openCatalogContext({
      store,
      publish: events.publish,
      storages,
      manifestsPerUser,
      startWorker,
    })
    const folders = await openWorkFolders(join(folder, 'state', 'transfers'))
    const catalogCache = await openCache({
      store,
      publish: events.publish,
      inventory: catalog.inventory,
      folder: join(folder, 'state', 'cache'),
      maxSize: cacheBudget,
      minFree: 0,
    })
    const transfers = createTransfers({
      catalog,
      machines,
      remote: createRemoteClient(outgoing, remoteLimits),
      folders,
      downloads: createDownloads(folders),
      cache: catalogCache,
      startWorker,
      architecture: 'x86_64',
      machineType: driver.kind,
      hostFiles: anyFile,
      trust,
      signingKey: undefined,
      warn: text => void warnings.push(text),
    })
    const app = createApp({
      routes,
      services: {
        machines,
        ...(await newIdentity({ store, publish: events.publish })).services,
        audit: { readPage: async () => ({ entries: [] }) },
        ssh: { execute: async () => ({ output: '', error: '' }) },
        events,
        jobs,
        metrics: createMetrics(),
        openStream: streams.open,
        subscriptions,
        userConfigs: openUserConfigs(store, events.publish),
        catalog: createCatalog(catalog),
        transfers,
        catalogCache,
        ...createManagerServices({
          store,
          records: openManagerRecords(store),
          publish: events.publish,
          outgoing,
          limits: remoteLimits,
        }),
        license: createFreeLicense('simulated', { id: host.id, cpus: 2, memory: 4096 }),
        health: createHealth({ hypervisor: async () => 'simulated' }),
        readiness: createReadiness(() => store.failure),
        openapi: createOpenApi(routes, '0.0.0', loadApiDescription),
      },
      authenticate: async ({ bearer }) => (bearer ? principal(bearer.split(',')) : undefined),
      parseFilter,
      onOutcome: ({ route }, outcome) => observed.push({ ...outcome, operation: route?.id }),
      runIdempotent: idempotency.run,
      startJob: jobs.start,
      checkReplies: true,
    })
    await use(app)
    await machines.drain()
    await jobs.close()
    streams[Symbol.dispose]()
    await closeTransport(app)
    await subscriptions[Symbol.asyncDispose]()
    hub[Symbol.dispose]()
    idempotency.close()
  },
  call: async ({ app }, use) => use(callOf(app)),
  open: async ({ app }, use) => use(openOf(app)),
})
