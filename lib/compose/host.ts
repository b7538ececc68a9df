import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import type { Config } from './config.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { checkAudit, checkFolder, checkStore } from './health-checks.ts'
import { createHealth } from '#lib/health/health.ts'
import { createReadiness } from '#lib/health/readiness.ts'
import { createApp } from '#lib/http/app.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { Outcome } from '#lib/http/outcome.ts'
import { createCors } from '#lib/http/cors.ts'
import { buildGuest } from '#lib/hypervisor/demo-guest/guest.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { describeHypervisor } from '#lib/hypervisor/driver.ts'
import { meterDriver } from '#lib/hypervisor/metered.ts'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { createFreeLicense } from '#lib/license/license.ts'
import { openMachines } from '#lib/machines/machines.ts'
import { createManagerServices } from '#lib/remote-catalogs/managers/open-managers.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { readHostFacts } from '#lib/platform/host-facts.ts'
import { openListener } from '#lib/listener/listener.ts'
import { openLocalSocket } from '#lib/platform/local-socket.ts'
import { type Log, logOf } from '#lib/platform/log.ts'
import { workersFrom } from '#lib/platform/workers.ts'
import { createResolveHost } from '#lib/ssh/allowed-hosts.ts'
import { createHostKeyChecks } from '#lib/ssh/host-keys.ts'
import { createSsh } from '#lib/ssh/ssh.ts'
import { scheduleBackups } from '#lib/storage/backups.ts'
import { openCatalogServices, readPackSigningKey } from './open-catalog.ts'
import { openDriver } from './open-driver.ts'
import { openEventServices } from './event-services.ts'
import { attachFolderOf, openMachineHostFiles } from './host-files.ts'
import { servedRoutes } from './served-routes.ts'
import { createShutdown } from './shutdown.ts'
import { openState, socketOf } from './state.ts'
import { openTransport } from './transport.ts'
import { version } from './version.ts'

/** A running service, and what its operator is told of the start. */
export interface RunningHost {
  readonly url: string
  readonly driver: string
  /** The certificate that clients have to trust, when it is the self-signed one. */
  readonly certificate: string | undefined
  /** Looks at once whether there is a new certificate. */
  reload(): Promise<void>
  /** Ends everything in order, in bounded time. Gives whether each part has ended by itself. */
  end(): Promise<boolean>
}

/**
 * Logs what failed, and with `debug` every reply: asking the log itself each time would cost a tenth of a small request.
 * A failure that the service has words for is a warning; any other is a defect and comes with its trace.
 */
const observeInto =
  (log: Log, all: boolean) =>
  ({ method, route, caller }: RequestContext, { requestId, status, error }: Outcome): void => {
    if (status < 500 && !all) return
    const fields = { requestId, method, operation: route?.id, caller: caller?.id, status }
    if (status < 500) log.debug('{method} {operation}: {status}', fields)
    else if (error instanceof ServiceError && error.fault !== 'internal')
      log.warning('{method} {operation}: {status} {reason}', { ...fields, reason: error.message, cause: error.cause })
    else log.error('{method} {operation}: {status}', { ...fields, error })
  }

/** Waits for all of them, also where one fails. Throws what went wrong with each. */
const allOf = async (parts: readonly Promise<void>[]): Promise<void> => {
  const failed = (await Promise.allSettled(parts)).filter(({ status }) => status === 'rejected')
  if (failed.length > 0) throw new Error(failed.map(one => messageOf((one as PromiseRejectedResult).reason)).join(' '))
}

/**
 * Starts everything, in this order; it ends in the reverse one.
 * @param entry the program's own file, which worker threads start from
 * @param passwordMade is told the password of root that the first start made up: kept nowhere, to be shown once
 */
export const openHost = async (
  config: Config,
  entry: URL,
  passwordMade: (password: string) => void,
): Promise<RunningHost> => {
  await using shutdown = createShutdown(logOf('entry'))
  const startWorker = workersFrom(entry)
  const facts = readHostFacts()
  // What is wrong with the configuration is told before anything is opened.
  const signingKey = await readPackSigningKey(config)
  const routes = servedRoutes(config)

  const state = await openState(config, startWorker)
  shutdown.add('store', 'store', () => state[Symbol.asyncDispose]())
  const { store, identity, audit, userConfigs, managerRecords, events, passwords, idempotency } = state
  // At once: what comes next can fail, and nothing else ever shows it.
  if (identity.newPassword !== undefined) passwordMade(identity.newPassword)

  if (config.backup_hours > 0) {
    const backups = scheduleBackups(store, {
      folder: config.backup_folder ?? join(config.state, 'backups'),
      hours: config.backup_hours,
      keep: config.backup_keep,
      log: logOf('storage'),
    })
    shutdown.add('backups', 'rest', () => backups[Symbol.asyncDispose]())
  }

  await makePrivateFolder(attachFolderOf(config))
  const hostFiles = await openMachineHostFiles(config)

  const transport = await openTransport(config, facts.name)

  const metrics = createMetrics()
  const { driver: bare, firstStart } = await openDriver(config, {
    folder: join(config.state, 'machines'),
    entry,
    hostFiles,
    startWorker,
  })
  const driver = meterDriver(bare, metrics.countCall)
  const machines = await openMachines({
    driver,
    host: { ...facts, url: config.listen.origin },
    stopLimit: config.stop_timeout * 1000,
    store,
    publish: events.publish,
    onPublishFailed: error => logOf('events').error('An event was lost: {reason}', { reason: messageOf(error) }),
    unresumed: error =>
      logOf('machines').error('A machine that was suspended for a push stays so: {reason}', {
        reason: messageOf(error),
      }),
  })
  shutdown.add('machines', 'machines', machines.close)
  if (firstStart && config.demo === 'on') {
    await machines.createDemo()
    // For the first machine that somebody makes by hand; QEMU may run as another user, who must be able to read it.
    await writeFile(join(attachFolderOf(config), 'demo-kernel.bin'), buildGuest(), { mode: 0o644 })
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
    onDefect: error => logOf('jobs').error('A job went wrong: {reason}', { reason: messageOf(error), error }),
  })
  // For a start that fails from here on; in a shutdown they have been ended before, and what did not end was told.
  shutdown.add('jobs', 'work', deadline => jobs.close(deadline).catch(() => {}))

  const eventServices = openEventServices({ config, entry, store, events })
  shutdown.add('readers of events', 'rest', () => eventServices[Symbol.dispose]())
  const { subscriptions, streams } = eventServices

  let commits = 0
  const counting = store.onCommit(() => void (commits += 1))
  shutdown.add('count of commits', 'rest', () => counting[Symbol.dispose]())
  metrics.addGauges({
    machines: ['Machines by state', machines.counts],
    jobs_under_way: ['Jobs under way', jobs.runningCount],
    cache_bytes: ['Bytes that the catalog cache takes', catalogParts.catalogCache.size],
    cache_hits: ['Pulls that the cache had the machine of', () => catalogParts.catalogCache.counters.hits],
    cache_misses: ['Pulls that it had not', () => catalogParts.catalogCache.counters.misses],
    cache_evictions: ['Machines that it let go to make room', () => catalogParts.catalogCache.counters.evictions],
    events_total: ['Events that were ever told', () => events.head().seq],
    event_subscribers: ['WebSockets that read events', () => subscriptions.stats().total_clients],
    event_messages_sent: ['Events that WebSockets were sent', () => subscriptions.stats().messages_sent],
    passwords_waiting: ['Passwords that wait to be hashed', passwords.pending],
    store_commits: ['Commits since the start', () => commits],
    store_writable: ['Whether the store takes changes', () => Number(store.failure === undefined)],
    resident_memory_bytes: ['Memory that the service holds', () => process.memoryUsage.rss()],
    uptime_seconds: ['Time since the start', () => Math.round(process.uptime())],
  })
  const logReply = observeInto(logOf('http'), config.log === 'debug')

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
        storage: checkStore(store),
        audit: checkAudit(audit),
        state_folder: checkFolder(config.state),
        ...(transport.health && { certificate: transport.health }),
      }),
      readiness: createReadiness(() => store.failure),
      openapi: createOpenApi(routes, version, loadApiDescription),
    },
    parseFilter,
    onOutcome(context: RequestContext, outcome: Outcome) {
      metrics.countReply(context.route?.id, outcome)
      logReply(context, outcome)
    },
    audit: createHttpAudit(audit),
    runOnce: idempotency.run,
    startJob: jobs.start,
    checkReplies: false,
    cors: config.cors_origins.length > 0 ? createCors(config.cors_origins) : undefined,
    headers: transport.headers,
  }
  const app = createApp({ ...common, authenticate: identity.authenticate })
  // Before anybody is served: what was under way comes first.
  const resumed = await jobs.resume(async ({ owner, apiKeyId, ...call }, work) =>
    app.replay({ ...call, caller: await identity.actingFor({ id: owner, apiKeyId }) }, work),
  )
  const removeUnused = async (): Promise<void> => {
    // What was left for the next start may need what is there.
    if (await resumed.finished) await catalogParts.removeUnused()
  }
  removeUnused().catch((error: unknown) => logOf('catalog').warning('{reason}', { reason: messageOf(error) }))
  // Who can open the socket owns the state folder, and with it everything: the command line acts for root.
  const everything = servedRoutes({ ...config, routes_include: [], routes_exclude: [] })
  const local = createApp({ ...common, routes: everything, authenticate: identity.root })
  try {
    const socket = await openLocalSocket(socketOf(config), request => local.fetch(request, { address: 'local' }))
    shutdown.add('socket of the command line', 'connections', () => socket[Symbol.asyncDispose]())
  } catch (error) {
    // The service is of use without it; the command line then works while the service is stopped.
    logOf('entry').warning('The command line cannot reach this service: {reason}', { reason: messageOf(error) })
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
  // Before the listener: it waits until every connection has ended.
  shutdown.add('streams', 'connections', () => streams[Symbol.dispose]())
  shutdown.add('WebSockets', 'connections', () => subscriptions[Symbol.asyncDispose]())
  // Added last, so it comes first: jobs and operations end, and their callers hear of it before the connections close.
  shutdown.add('work under way', 'work', deadline => allOf([jobs.close(deadline), machines.drain(deadline)]))

  const kept = shutdown.move()
  return {
    url: listener.url,
    driver: driver.platform.hypervisorType,
    certificate: transport.toTrust,
    reload: () => watch.look(),
    end: kept.end,
  }
}
