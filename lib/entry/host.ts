import { join } from 'node:path'
import { auditInto } from '#lib/audit/observe.ts'
import type { Config } from '#lib/config.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createHealth } from '#lib/health/health.ts'
import { createApp } from '#lib/http/app.ts'
import type { Observation } from '#lib/http/observation.ts'
import { createCors } from '#lib/http/cors.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'
import { parseFilter } from '#lib/http/filter.ts'
import { meteredDriver } from '#lib/hypervisor/metered.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { freeLicense } from '#lib/license/license.ts'
import { openMachines } from '#lib/machines/machines.ts'
import { createManagerServices } from '#lib/managers/services.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { readHostFacts } from '#lib/platform/host-facts.ts'
import { openListener } from '#lib/platform/listener.ts'
import { openLocalSocket } from '#lib/platform/local-socket.ts'
import { type Log, logOf } from '#lib/platform/log.ts'
import { workersFrom } from '#lib/platform/workers.ts'
import { createResolveHost } from '#lib/ssh/allowed-hosts.ts'
import { createHostKeys } from '#lib/ssh/host-keys.ts'
import { createSsh } from '#lib/ssh/ssh.ts'
import { scheduleBackups } from '#lib/storage/backups.ts'
import { allowedFoldersOf, openCatalogServices } from './catalog.ts'
import { openDriver } from './driver.ts'
import { openEventServices } from './event-services.ts'
import { servedRoutes } from './served-routes.ts'
import { openState, socketOf } from './state.ts'
import { openTransport } from './transport.ts'
import { version } from './version.ts'

/** A running service, and what its operator is told of the start. */
export interface RunningHost extends AsyncDisposable {
  readonly url: string
  readonly driver: string
  /** The certificate that clients have to trust, when it is the self-signed one. */
  readonly certificate: string | undefined
  /** Looks at once whether there is a new certificate. */
  reload(): Promise<void>
}

/**
 * Logs what failed, and with `debug` every reply: asking the log itself each time would cost a tenth of a small request.
 * A failure that the service has words for is a warning; any other is a defect and comes with its trace.
 */
const observeInto =
  (log: Log, all: boolean) =>
  ({ requestId, method, operation, caller, status, error }: Observation): void => {
    if (status < 500 && !all) return
    const fields = { requestId, method, operation, caller: caller?.id, status }
    if (status < 500) log.debug('{method} {operation}: {status}', fields)
    else if (error instanceof ServiceError && error.fault !== 'internal')
      log.warning('{method} {operation}: {status} {reason}', { ...fields, reason: error.message, cause: error.cause })
    else log.error('{method} {operation}: {status}', { ...fields, error })
  }

/**
 * Starts everything, in this order; disposing stops it in the reverse one.
 * @param entry the program's own file, which worker threads start from
 * @param passwordMade is told the password of root that the first start made up: kept nowhere, to be shown once
 */
export const openHost = async (
  config: Config,
  entry: URL,
  passwordMade: (password: string) => void,
): Promise<RunningHost> => {
  await using stack = new AsyncDisposableStack()
  const startWorker = workersFrom(entry)
  const facts = readHostFacts()
  const allowedFolders = allowedFoldersOf(config)

  const { store, identity, audit, userConfigs, managerRecords, events, passwords, idempotency } = stack.use(
    await openState(config, startWorker),
  )
  // At once: what comes next can fail, and nothing else ever shows it.
  if (identity.newPassword !== undefined) passwordMade(identity.newPassword)

  if (config.backup_hours > 0)
    stack.use(
      scheduleBackups(store, {
        folder: config.backup_folder ?? join(config.state, 'backups'),
        hours: config.backup_hours,
        keep: config.backup_keep,
        log: logOf('storage'),
      }),
    )

  const transport = await openTransport(config, facts.name)

  const metrics = createMetrics()
  const { driver: bare, firstStart } = await openDriver(config, {
    folder: join(config.state, 'machines'),
    startWorker,
  })
  const driver = meteredDriver(bare, metrics.countCall)
  const machines = stack.adopt(
    await openMachines({
      driver,
      host: { ...facts, url: config.listen.origin },
      stopLimit: config.stop_timeout * 1000,
      allowedFolders,
      store,
      tell: events.tell,
      untold: error => logOf('events').error('An event was lost: {reason}', { reason: messageOf(error) }),
      unresumed: error =>
        logOf('machines').error('A machine that was suspended for a push stays so: {reason}', {
          reason: messageOf(error),
        }),
    }),
    one => one.close(),
  )
  if (firstStart && config.demo === 'on') await machines.createDemo()

  const ssh = stack.adopt(
    createSsh({
      hostKeys: createHostKeys({ file: join(config.state, 'ssh', 'known_hosts'), policy: config.ssh_host_keys }),
      resolveHost: createResolveHost(config.ssh_allowed_hosts),
      connectLimit: config.ssh_connect_timeout * 1000,
      runLimit: config.ssh_run_timeout * 1000,
      outputLimit: config.ssh_output_limit,
    }),
    one => one.close(),
  )

  const catalogParts = await openCatalogServices(config, { store, events, machines, driver, startWorker })

  const jobs = stack.adopt(
    await openJobs({
      store,
      tell: events.tell,
      done: metrics.countJob,
      failed: error => logOf('jobs').error('A job went wrong: {reason}', { reason: messageOf(error), error }),
    }),
    one => one.close(),
  )

  const { subscriptions, streams } = stack.use(openEventServices({ config, entry, store, events }))

  let commits = 0
  stack.use(store.onCommit(() => void (commits += 1)))
  metrics.watch({
    machines: ['Machines by state', machines.counts],
    jobs_under_way: ['Jobs under way', jobs.underWay],
    cache_bytes: ['Bytes that the catalog cache takes', catalogParts.catalogCache.size],
    cache_hits: ['Pulls that the cache had the machine of', () => catalogParts.catalogCache.counters.hits],
    cache_misses: ['Pulls that it had not', () => catalogParts.catalogCache.counters.misses],
    cache_evictions: ['Machines that it let go to make room', () => catalogParts.catalogCache.counters.evictions],
    events_total: ['Events that were ever told', () => events.head().seq],
    event_subscribers: ['WebSockets that read events', () => subscriptions.stats().total_clients],
    event_messages_sent: ['Events that WebSockets were sent', () => subscriptions.stats().messages_sent],
    passwords_waiting: ['Passwords that wait to be hashed', passwords.waiting],
    store_commits: ['Commits since the start', () => commits],
    store_writable: ['Whether the store takes changes', () => Number(store.failure === undefined)],
    resident_memory_bytes: ['Memory that the service holds', () => process.memoryUsage.rss()],
    uptime_seconds: ['Time since the start', () => Math.round(process.uptime())],
  })
  const logReply = observeInto(logOf('http'), config.log === 'debug')

  const routes = servedRoutes(config)
  const common = {
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
        tell: events.tell,
        outgoing: createOutgoing({ allowed: config.outgoing_addresses }),
      }),
      events,
      jobs,
      metrics,
      subscriptions,
      openStream: streams.open,
      ssh,
      machines,
      license: freeLicense(driver.kind, facts),
      health: createHealth({
        hypervisor: async () => driver.platform.hypervisorType,
        storage: async () => {
          if (store.failure) throw new Error(store.failure)
          return 'open'
        },
        ...(transport.health && { certificate: transport.health }),
      }),
      openapi: createOpenApi(routes, version),
    },
    parseFilter,
    observe(what: Observation) {
      metrics.count(what)
      logReply(what)
    },
    audit: auditInto(audit),
    runOnce: idempotency.run,
    startJob: jobs.begin,
    checkReplies: false,
    cors: config.cors_origins.length > 0 ? createCors(config.cors_origins) : undefined,
    headers: transport.headers,
  }
  const app = createApp({ ...common, authenticate: identity.authenticate })
  // Before anybody is served: what was under way comes first.
  const resumed = await jobs.resume(async ({ owner, ...call }, work) => {
    const caller = await identity.principal(owner)
    if (!caller) throw new ServiceError('forbidden', 'Who asked for this is not a user any more.')
    return app.repeat({ ...call, caller }, work)
  })
  const removeUnused = async (): Promise<void> => {
    // What was left for the next start may need what is there.
    if (await resumed.over) await catalogParts.removeUnused()
  }
  removeUnused().catch((error: unknown) => logOf('catalog').warning('{reason}', { reason: messageOf(error) }))
  // Who can open the socket owns the state folder, and with it everything: the command line acts for root.
  const everything = servedRoutes({ ...config, routes_include: [], routes_exclude: [] })
  const local = createApp({ ...common, routes: everything, authenticate: identity.root })
  try {
    stack.use(await openLocalSocket(socketOf(config), request => local.fetch(request, { address: 'local' })))
  } catch (error) {
    // The service is of use without it; the command line then works while the service is stopped.
    logOf('entry').warning('The command line cannot reach this service: {reason}', { reason: messageOf(error) })
  }
  const listener = stack.adopt(
    await openListener({
      address: config.listen,
      tls: transport.certificate,
      clientAddress: createClientAddress(config.trusted_proxies),
      fetch: app.fetch,
      upgrade: app.upgrade,
    }),
    one => one.close(),
  )
  const watch = stack.use(transport.watch(listener))
  // Before the listener: it waits until every connection has ended.
  stack.use(subscriptions)
  stack.use(streams)
  // Registered last, so it comes first: jobs and operations end, and their callers hear of it before the connections close.
  stack.defer(async () => {
    await Promise.all([jobs.close(), machines.drain()])
  })

  const kept = stack.move()
  return {
    url: listener.url,
    driver: driver.platform.hypervisorType,
    certificate: transport.toTrust,
    reload: () => watch.look(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
