import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SetupServer, setupServer } from 'msw/node'
import { test as base } from 'vitest'
import { every } from '#lib/async/every.ts'
import type { Principal } from '#lib/access/principal.ts'
import { openCatalogContext } from '#lib/catalog/catalog.ts'
import type { TrustPolicy } from '#lib/packs/sidecar.ts'
import { openHostServices } from '#lib/compose/host-services.ts'
import { createHostStorages } from '#lib/objects/host-storages.ts'
import type { Events } from '#lib/events/events.ts'
import { type App, createApp } from '#lib/http/app.ts'
import type { Outcome } from '#lib/http/outcome.ts'
import { messageOf } from '#lib/errors.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import type { ImageContext } from '#lib/images/context.ts'
import { openImageStorage } from '#lib/images/open-image-storage.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { openManagerRecords } from '#lib/remote-catalogs/managers/records.ts'
import { defaultLimits, type RemoteLimits } from '#lib/remote-catalogs/remote-client.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { createOpenOutgoing, createOutgoing, type OpenOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { openIdempotency } from '#lib/idempotency/idempotency.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'
import { openUserConfigs } from '#lib/user-configs/user-configs.ts'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { hostRoutes as routes } from '#lib/compose/hosts/host-routes.ts'
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
  readDiskSize: async () => 100_000_000,
}

interface Ask {
  /** The claims of the caller; null sends no credential. All claims when left out. */
  readonly as?: readonly string[] | null
  /** Text and bytes are sent as they are, anything else as JSON. */
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

const startWorker = createStartWorker(new URL('../../lib/entry/main.ts', import.meta.url))

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
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      }),
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
  images: ImageContext
  /** How images are pulled. */
  openOutgoing: OpenOutgoing
  /** The most bytes of an image. */
  imageMaxSize: number
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
  images: async ({ folder, eventLog: { store, events }, openOutgoing, imageMaxSize }, use) => {
    const programs = await findQemu()
    const opened = await openImageStorage({
      store,
      publish: events.publish,
      folder: join(folder, 'state', 'images'),
      outgoing: openOutgoing,
      maxBytes: imageMaxSize,
    })
    await use({ ...opened, tools: programs && { programs } })
  },
  machines: async ({ driver, eventLog, images }, use) => {
    const machines = await openMachines({ driver, host, leaseImage: images.leases.take, stopTimeout: 200, ...eventLog })
    await use(machines)
    await machines.close()
  },
  // oxlint-disable-next-line no-empty-pattern -- as above
  openOutgoing: async ({}, use) => use(createOpenOutgoing({ allowed: ['127.0.0.1'] })),
  // oxlint-disable-next-line no-empty-pattern -- as above
  imageMaxSize: async ({}, use) => use(2 ** 30),
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
      images,
      observed,
      defects,
      outgoing,
      remoteLimits,
      eventLog: { store, events },
    },
    use,
  ) => {
    const { publish } = events
    const idempotency = openIdempotency(store, { pepper: new Uint8Array(32), every })
    const closing = new AsyncDisposableStack()
    const { services, jobs, addWorkToShutdown } = await openHostServices({
      routes,
      loadApiDescription,
      state: {
        store,
        events,
        identity: await newIdentity({ store, publish }),
        audit: { readPage: async () => ({ entries: [] }) },
        userConfigs: openUserConfigs(store, publish),
        managerRecords: openManagerRecords(store),
      },
      driver,
      machines,
      images,
      facts: host,
      ssh: { execute: async () => ({ output: '', error: '' }) },
      catalog: {
        catalog: await openCatalogContext({
          store,
          publish,
          manifestsPerUser,
          startWorker,
          storages: createHostStorages({
            folder: join(folder, 'catalog'),
            hostFiles: await filesIn(folder, [join(folder, 'state')]),
          }),
        }),
        cache: { folder: join(folder, 'state', 'cache'), maxSize: cacheBudget, minFree: 0 },
        workFolder: join(folder, 'state', 'transfers'),
        outgoing: { transfers: outgoing, managers: outgoing },
        remoteLimits,
        startWorker,
        hostFiles: anyFile,
        trust,
        signingKey: undefined,
        warn: text => void warnings.push(text),
      },
      every,
      eventReaders: { limits: { user: 3, all: 5 } },
      metrics: createMetrics(),
      healthChecks: { hypervisor: async () => 'simulated' },
      onJobDefect: error => void defects.push(error),
      onPoolFailed: (pool, error) => void warnings.push(`${pool}: ${messageOf(error)}`),
      schedules: {
        findUser: async () => principal(['*']),
        record: async () => {},
        onFailed: (_, error) => void defects.push(error),
      },
      // Nothing here is left behind: a part that does not close fails the test.
      shutdown: {
        add: (_name, _kind, close) => closing.defer(async () => void (await close(new AbortController().signal))),
      },
    })
    const app = createApp({
      routes,
      services,
      authenticate: async ({ bearer }) => (bearer ? principal(bearer.split(',')) : undefined),
      parseFilter,
      onOutcome: ({ route }, outcome) => observed.push({ ...outcome, operation: route?.id }),
      runIdempotent: idempotency.run,
      startJob: jobs.start,
      checkReplies: true,
    })
    closing.defer(() => closeTransport(app))
    addWorkToShutdown()
    await use(app)
    await closing.disposeAsync()
    idempotency.close()
  },
  call: async ({ app }, use) => use(callOf(app)),
  open: async ({ app }, use) => use(openOf(app)),
})
