import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import type { Config } from './config.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createAuditCheck, createFolderCheck, createStoreCheck } from './health-checks.ts'
import { createHealth } from '#lib/health/health.ts'
import { createReadiness } from '#lib/health/readiness.ts'
import { type App, createApp } from '#lib/http/app.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Outcome } from '#lib/http/outcome.ts'
import { createCors } from '#lib/http/cors.ts'
import type { AppOptions } from '#lib/http/options.ts'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { describeHypervisor } from '#lib/hypervisor/driver.ts'
import { meterDriver } from '#lib/hypervisor/metered.ts'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { createFreeLicense } from '#lib/license/license.ts'
import { openMachines } from '#lib/machines/machines.ts'
import { createManagerServices } from '#lib/remote-catalogs/managers/manager-services.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { readHostFacts } from '#lib/platform/host-facts.ts'
import { openListener } from '#lib/listener/listener.ts'
import { openLocalSocket } from '#lib/platform/local-socket.ts'
import { type Logger, getAreaLogger } from '#lib/platform/log.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { createResolveHost } from '#lib/ssh/allowed-hosts.ts'
import { createHostKeyChecks } from '#lib/ssh/host-keys.ts'
import { createSsh } from '#lib/ssh/ssh.ts'
import { scheduleBackups } from '#lib/storage/backups.ts'
import { openCatalogServices, readPackSigningKey } from './open-catalog.ts'
import { openDriver } from './open-driver.ts'
import { openEventServices } from './event-services.ts'
import { getAttachFolder, openMachineHostFiles } from './host-files.ts'
import { selectServedRoutes } from './served-routes.ts'
import { createShutdown } from './shutdown.ts'
import { openState, getSocketPath } from './state.ts'
import { openTransport } from './transport.ts'
import { version } from './version.ts'

/** A running service, and the facts that its start prints for the operator. */
export interface RunningHost {
  readonly url: string
  readonly driver: string
  /** The file of the certificate, if it is self-signed: clients must be told to trust it. */
  readonly certificate: string | undefined
  /** Reads the certificate again if its file has changed. */
  reload(): Promise<void>
  /** Closes all parts in order, within time limits. Returns true if every part closed in time. */
  end(): Promise<boolean>
}

/**
 * Creates a function that logs failed requests, and with `logAll` every request. It does not ask the log for its level, because
 * that would cost a tenth of a small request. An expected failure is a warning; any other is a defect and has its stack trace.
 */
const createRequestLogger =
  (log: Logger, logAll: boolean) =>
  ({ method, route, caller }: RequestContext, { requestId, status, error }: Outcome): void => {
    if (status < 500 && !logAll) return
    const fields = { requestId, method, operation: route?.id, caller: caller?.id, status }
    if (status < 500) log.debug('{method} {operation}: {status}', fields)
    else if (error instanceof ServiceError && error.fault !== 'internal')
      log.warning('{method} {operation}: {status} {reason}', { ...fields, reason: error.message, cause: error.cause })
    else log.error('{method} {operation}: {status}', { ...fields, error })
  }

/** Waits for all parts, also after a failure. Throws an error with the messages of all failures. */
const waitForAll = async (parts: readonly Promise<void>[]): Promise<void> => {
  const results = await Promise.allSettled(parts)
  const messages = results.flatMap(result => (result.status === 'rejected' ? [messageOf(result.reason)] : []))
  if (messages.length > 0) throw new Error(messages.join(' '))
}

/**
 * Starts the service. Its parts start in the order below and close in the reverse order.
 * @param entry the file of the program, which worker threads start from
 * @param onPasswordGenerated receives the password of root that the first start generates. It is stored nowhere, so show it.
 */
export const openHost = async (
  config: Config,
  entry: URL,
  onPasswordGenerated: (password: string) => void,
): Promise<RunningHost> => {
  await using shutdown = createShutdown(getAreaLogger('entry'))
  const startWorker = createStartWorker(entry)
  const facts = readHostFacts()
  // Errors of the configuration must come before anything is opened.
  const signingKey = await readPackSigningKey(config)
  const routes = selectServedRoutes(config)

  const state = await openState(config, startWorker)
  shutdown.add('store', 'store', () => state[Symbol.asyncDispose]())
  const { store, identity, audit, userConfigs, managerRecords, events, passwords, idempotency } = state
  // The following parts can fail to start, and no later start shows the password.
  if (identity.newPassword !== undefined) onPasswordGenerated(identity.newPassword)

  if (config.backup_hours > 0) {
    const backups = scheduleBackups(store, {
      folder: config.backup_folder ?? join(config.state, 'backups'),
      hours: config.backup_hours,
      keep: config.backup_keep,
      log: getAreaLogger('storage'),
    })
    shutdown.add('backups', 'rest', () => backups[Symbol.asyncDispose]())
  }

  await makePrivateFolder(getAttachFolder(config))
  const hostFiles = await openMachineHostFiles(config)

  const transport = await openTransport(config, facts.name)

  const metrics = createMetrics()
  const { driver: unmeteredDriver, firstStart } = await openDriver(config, {
    folder: join(config.state, 'machines'),
    entry,
    hostFiles,
    startWorker,
  })
  const driver = meterDriver(unmeteredDriver, metrics.countCall)
  const machines = await openMachines({
    driver,
    host: { ...facts, url: config.listen.origin },
    stopTimeout: config.stop_timeout * 1000,
    store,
    publish: events.publish,
    onPublishFailed: error =>
      getAreaLogger('events').error('An event was lost: {reason}', { reason: messageOf(error) }),
    onResumeFailed: error =>
      getAreaLogger('machines').error('A machine that was suspended for a push could not be resumed: {reason}', {
        reason: messageOf(error),
      }),
  })
  shutdown.add('machines', 'machines', machines.close)
  if (firstStart && config.demo === 'on') {
    await machines.createDemo()
    // A kernel for the first machine that a user creates. QEMU may run as another user, who must be able to read the file.
    await writeFile(join(getAttachFolder(config), 'demo-kernel.bin'), demoGuest, { mode: 0o644 })
  }

  const ssh = createSsh({
    startHostKeyCheck: createHostKeyChecks({
      file: join(config.state, 'ssh', 'known_hosts'),
      policy: config.ssh_host_keys,
    }),
    resolveHost: createResolveHost(config.ssh_allowed_hosts),
    connectLimit: config.ssh_connect_timeout * 1000,
    runLimit: config.ssh_run_timeout * 1000,
    outputLimit: config.ssh_output_limit,
  })
  shutdown.add('SSH connections', 'rest', () => ssh.close())

  const catalogParts = await openCatalogServices(config, {
    store,
    events,
    machines,
    driver,
    hostFiles,
    startWorker,
    signingKey,
  })

  const jobs = await openJobs({
    store,
    publish: events.publish,
    onEnded: metrics.countJob,
    onDefect: error =>
      getAreaLogger('jobs').error('A job failed unexpectedly: {reason}', { reason: messageOf(error), error }),
  })
  // Only for a start that fails later. A shutdown has closed the jobs before (see `work under way`) and has logged the rest.
  shutdown.add('jobs', 'work', deadline => jobs.close(deadline).catch(() => {}))

  const eventServices = openEventServices({ config, entry, store, events })
  shutdown.add('readers of events', 'rest', () => eventServices[Symbol.dispose]())
  const { subscriptions, streams } = eventServices

  let commits = 0
  const commitCounter = store.onCommit(() => void (commits += 1))
  shutdown.add('commit counter', 'rest', () => commitCounter[Symbol.dispose]())
  metrics.addGauges({
    machines: ['Machines by state', machines.countByState],
    jobs_under_way: ['Running jobs', jobs.runningCount],
    cache_bytes: ['Size of the catalog cache in bytes', catalogParts.catalogCache.size],
    cache_hits: ['Pulls of machines that were in the cache', () => catalogParts.catalogCache.counters.hits],
    cache_misses: ['Pulls of machines that were not in the cache', () => catalogParts.catalogCache.counters.misses],
    cache_evictions: ['Machines that the cache evicted', () => catalogParts.catalogCache.counters.evictions],
    events_total: ['Events since the first start', () => events.head().seq],
    event_subscribers: ['Open WebSockets that read events', () => subscriptions.stats().total_clients],
    event_messages_sent: ['Events sent to WebSockets', () => subscriptions.stats().messages_sent],
    passwords_waiting: ['Passwords that wait for their hash', passwords.pending],
    store_commits: ['Commits since the start', () => commits],
    store_writable: ['1 if the store accepts changes, else 0', () => Number(store.failure === undefined)],
    resident_memory_bytes: ['Resident memory of the service in bytes', () => process.memoryUsage.rss()],
    uptime_seconds: ['Seconds since the start', () => Math.round(process.uptime())],
  })
  const logRequest = createRequestLogger(getAreaLogger('http'), config.log === 'debug')

  const appOptions = {
    routes,
    services: {
      ...identity.services,
      audit,
      userConfigs,
      catalog: catalogParts.catalog,
      transfers: catalogParts.transfers,
      catalogCache: catalogParts.catalogCache,
      ...createManagerServices({
        store,
        records: managerRecords,
        publish: events.publish,
        outgoing: createOutgoing({ allowed: config.outgoing_addresses }),
      }),
      events,
      jobs,
      metrics,
      subscriptions,
      openStream: streams.open,
      ssh,
      machines,
      license: createFreeLicense(driver.kind, facts),
      health: createHealth({
        hypervisor: async () => describeHypervisor(driver.platform),
        storage: createStoreCheck(store),
        audit: createAuditCheck(audit),
        state_folder: createFolderCheck(config.state),
        ...(transport.health && { certificate: transport.health }),
      }),
      readiness: createReadiness(() => store.failure),
      openapi: createOpenApi(routes, version, loadApiDescription),
    },
    parseFilter,
    onOutcome(context: RequestContext, outcome: Outcome) {
      metrics.countReply(context.route?.id, outcome)
      logRequest(context, outcome)
    },
    audit: createHttpAudit(audit),
    runIdempotent: idempotency.run,
    startJob: jobs.start,
    checkReplies: false,
    cors: config.cors_origins.length > 0 ? createCors(config.cors_origins) : undefined,
    headers: transport.headers,
  } satisfies Omit<AppOptions, 'authenticate'>
  const app = createApp({ ...appOptions, authenticate: identity.authenticate })
  // Interrupted jobs get their machines before new requests.
  const resumed = await jobs.resume(async ({ owner, apiKeyId, ...call }, work) =>
    app.replay({ ...call, caller: await identity.actingFor({ id: owner, apiKeyId }) }, work),
  )
  const removeUnused = async (): Promise<void> => {
    // Jobs that are left for the next start may need their work folders.
    if (await resumed.finished) await catalogParts.removeUnused()
  }
  removeUnused().catch((error: unknown) => getAreaLogger('catalog').warning('{reason}', { reason: messageOf(error) }))
  // Only the owner of the state folder can open the socket, and the owner can do everything. So the command line acts as root.
  const allRoutes = selectServedRoutes({ ...config, routes_include: [], routes_exclude: [] })
  // Made at the first request, because most services never get one.
  let localApp: App | undefined
  const openLocalApp = (): App =>
    (localApp ??= createApp({ ...appOptions, routes: allRoutes, authenticate: identity.root }))
  try {
    const socket = await openLocalSocket(getSocketPath(config), request =>
      openLocalApp().fetch(request, { address: 'local' }),
    )
    shutdown.add('socket of the command line', 'connections', () => socket[Symbol.asyncDispose]())
  } catch (error) {
    // The service works without the socket. The command line then works only while the service is stopped.
    getAreaLogger('entry').warning('The command line cannot reach this service: {reason}', { reason: messageOf(error) })
  }
  const listener = await openListener({
    address: config.listen,
    tls: transport.certificate,
    clientAddress: createClientAddress(config.trusted_proxies),
    fetch: app.fetch,
    upgrade: app.upgrade,
    direct: app.direct,
    isWebSocket: app.isWebSocket,
  })
  shutdown.add('connections', 'connections', listener.close)
  const watch = transport.watch(listener)
  shutdown.add('watch of the certificate', 'connections', () => watch[Symbol.dispose]())
  // Streams and WebSockets close before the listener, which waits until every connection has ended.
  shutdown.add('streams', 'connections', () => streams[Symbol.dispose]())
  shutdown.add('WebSockets', 'connections', () => subscriptions[Symbol.asyncDispose]())
  // Added last, so it is first: jobs and operations end, and their callers get replies before the connections close.
  shutdown.add('work under way', 'work', deadline => waitForAll([jobs.close(deadline), machines.drain(deadline)]))

  const running = shutdown.move()
  return {
    url: listener.url,
    driver: driver.platform.hypervisorType,
    certificate: transport.selfSignedFile,
    reload: () => watch.reload(),
    end: running.end,
  }
}
