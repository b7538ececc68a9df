import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SetupServer, setupServer } from 'msw/node'
import { test as base } from 'vitest'
import type { Principal } from '#lib/auth/principal.ts'
import { openCache } from '#lib/catalog/cache/cache.ts'
import { createCatalog, openCatalogContext } from '#lib/catalog/catalog.ts'
import type { TrustPolicy } from '#lib/catalog/pack/side-file.ts'
import { createStorages } from '#lib/catalog/storages.ts'
import { createDownloads } from '#lib/catalog/transfers/downloads.ts'
import { createTransfers } from '#lib/catalog/transfers/transfers.ts'
import { openWorkFolders } from '#lib/catalog/transfers/work-folder.ts'
import type { Events } from '#lib/events/events.ts'
import { createHub } from '#lib/events/hub.ts'
import { createInlineReaders } from '#lib/events/inline.ts'
import { createStreams } from '#lib/events/stream.ts'
import { createSubscriptions } from '#lib/events/subscriptions.ts'
import { createHealth } from '#lib/health/health.ts'
import { type App, createApp } from '#lib/http/app.ts'
import type { Observation } from '#lib/http/observation.ts'
import { parseFilter } from '#lib/http/filter.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { freeLicense } from '#lib/license/license.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { openManagerRecords } from '#lib/managers/records.ts'
import { createRemote, type Limits, usualLimits } from '#lib/catalog/remote/remote.ts'
import { createManagerServices } from '#lib/managers/services.ts'
import { workersFrom } from '#lib/platform/workers.ts'
import { createOutgoing, type Outgoing } from '#lib/platform/outgoing.ts'
import { openIdempotency } from '#lib/idempotency/idempotency.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'
import { openUserConfigs } from '#lib/user-configs/user-configs.ts'
import { routes } from '#functions/routes.gen.ts'
import { newTelling } from './events.ts'
import { newIdentity } from './identity.ts'
import { createSimulatedDriver, type SimulatedDriver } from './simulated-driver.ts'

export const host = {
  name: 'host-1',
  id: '00000000-0000-4000-8000-000000000001',
  url: 'https://host-1.example.test:8443',
  externalAddress: '192.0.2.1',
  user: 'farm',
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
const openOf =
  (app: App): Open =>
  async (method, path, { as = ['*'], body, headers = {}, signal } = {}) =>
    app.fetch(
      new Request(`https://host-1.example.test:8443${path}`, {
        method,
        headers: { ...(as && { authorization: `Bearer ${as.join(',') || 'nothing'}` }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal && { signal }),
      }),
    )

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
  telling: Awaited<ReturnType<typeof newTelling>>
  events: Events
  machines: Machines
  /** How other hosts are reached. */
  outgoing: Outgoing
  remoteLimits: Limits
  /** Whom packs have to be signed by. */
  trust: { policy: TrustPolicy; keys: readonly string[] }
  /** Bytes that the catalog's cache may take. */
  cacheBudget: number
  /** What the operator is told. */
  warnings: string[]
  observed: Observation[]
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
  telling: async ({}, use) => use(await newTelling()),
  events: async ({ telling }, use) => use(telling.events),
  machines: async ({ driver, telling }, use) => {
    const machines = await openMachines({ driver, host, stopLimit: 200, allowedFolders: [], ...telling })
    await use(machines)
    await machines.close()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above
  outgoing: async ({}, use) => use(createOutgoing({ allowed: [] })),
  // oxlint-disable-next-line no-empty-pattern -- as above
  remoteLimits: async ({}, use) => use(usualLimits),
  // oxlint-disable-next-line no-empty-pattern -- as above
  trust: async ({}, use) => use({ policy: 'off', keys: [] }),
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
      trust,
      warnings,
      machines,
      observed,
      defects,
      outgoing,
      remoteLimits,
      telling: { store, events },
    },
    use,
  ) => {
    const idempotency = openIdempotency(store, new Uint8Array(32))
    const failed = (error: unknown): void => void defects.push(error)
    const jobs = await openJobs({ store, tell: events.tell, failed, done: () => {} })
    const hub = createHub(events)
    const subscriptions = createSubscriptions({
      events,
      readers: createInlineReaders(hub),
      limits: { user: 3, all: 5 },
    })
    const streams = createStreams({ events, hub })
    const storages = createStorages({
      folder: join(folder, 'catalog'),
      allowed: [folder],
      state: join(folder, 'state'),
    })
    const catalog = await openCatalogContext({ store, tell: events.tell, storages })
    const folders = await openWorkFolders(join(folder, 'state', 'transfers'))
    const catalogCache = await openCache({
      store,
      tell: events.tell,
      inventory: catalog.inventory,
      folder: join(folder, 'state', 'cache'),
      budget: cacheBudget,
      keepFree: 0,
    })
    const transfers = createTransfers({
      catalog,
      machines,
      remote: createRemote(outgoing, remoteLimits),
      folders,
      downloads: createDownloads(folders),
      cache: catalogCache,
      startWorker: workersFrom(new URL('../../lib/entry/main.ts', import.meta.url)),
      architecture: 'x86_64',
      machineType: driver.kind,
      allowedFolders: [],
      trust,
      signingKey: undefined,
      warn: text => void warnings.push(text),
    })
    const app = createApp({
      routes,
      services: {
        machines,
        ...(await newIdentity({ store, tell: events.tell })).services,
        audit: { page: async () => ({ entries: [] }) },
        ssh: { execute: async () => ({ output: '', error: '' }) },
        events,
        jobs,
        metrics: createMetrics(),
        openStream: streams.open,
        subscriptions,
        userConfigs: openUserConfigs(store, events.tell),
        catalog: createCatalog(catalog),
        transfers,
        catalogCache,
        ...createManagerServices({
          store,
          records: openManagerRecords(store),
          tell: events.tell,
          outgoing,
          limits: remoteLimits,
        }),
        license: freeLicense('simulated', { id: host.id, cpus: 2, memory: 4096 }),
        health: createHealth({ hypervisor: async () => 'simulated' }),
        openapi: createOpenApi(routes, '0.0.0'),
      },
      authenticate: async ({ bearer }) => (bearer ? principal(bearer.split(',')) : undefined),
      parseFilter,
      observe: what => observed.push(what),
      runOnce: idempotency.run,
      startJob: jobs.begin,
      checkReplies: true,
    })
    await use(app)
    await machines.drain()
    await jobs.close()
    streams[Symbol.dispose]()
    await subscriptions[Symbol.asyncDispose]()
    hub[Symbol.dispose]()
    idempotency.close()
  },
  call: async ({ app }, use) => use(callOf(app)),
  open: async ({ app }, use) => use(openOf(app)),
})
