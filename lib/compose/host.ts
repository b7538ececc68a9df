import { join } from 'node:path'
import { every } from '#lib/async/every.ts'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { messageOf } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import type { RequestContext } from '#lib/http/context.ts'
import { createCors } from '#lib/http/cors.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { AppOptions } from '#lib/http/options.ts'
import type { Outcome } from '#lib/http/outcome.ts'
import { describeHypervisor } from '#lib/hypervisor/driver.ts'
import { meterDriver } from '#lib/hypervisor/metered.ts'
import { openListener } from '#lib/listener/listener.ts'
import { createMetrics } from '#lib/metrics/metrics.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { makePrivateFolder } from '#lib/platform/files.ts'
import { readHostFacts } from '#lib/platform/host-facts.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { AssetName, ProgramParts } from '#lib/platform/program-parts.ts'
import { scheduleBackups } from '#lib/storage/copies/backups.ts'
import { createApiDescriptionLoader } from './api-description.ts'
import { openCommandLineSocket } from './command-line-socket.ts'
import type { Config } from './config.ts'
import { openControlLink } from './hosts/control-link.ts'
import { openEventsProcess } from './events-process.ts'
import { createFolderCheck } from './health/folder-check.ts'
import { addGauges, addHostGauges } from './gauges.ts'
import { createAuditCheck, createStoreCheck } from './health/health-checks.ts'
import { getAttachFolder, openMachineHostFiles } from './host-files.ts'
import { openHostServices } from './host-services.ts'
import { publishLiveEvents } from './live-events.ts'
import { openCatalogPorts, readPackSigningKey } from './open-catalog.ts'
import { openDriver } from './open-driver.ts'
import { openHostImages } from './open-images.ts'
import { createDemo, openHostMachines } from './open-machines.ts'
import { openSsh } from './open-ssh.ts'
import { recordScheduledChange } from './record-scheduled-change.ts'
import { createRequestLogger } from './request-log.ts'
import { selectServedRoutes } from './served-routes.ts'
import { createConsolePages } from './assets/console-pages.ts'
import { createShutdown } from './shutdown.ts'
import { getBackupFolder, openState } from './state.ts'
import { openTransport } from './transport.ts'

/** A running service, and the facts that its start prints for the operator. */
export interface RunningHost {
  readonly url: string
  readonly driver: string
  readonly routes: readonly Route[]
  /** The file of the certificate, if it is self-signed: clients must be told to trust it. */
  readonly certificate: string | undefined
  /** Where root sets the first password in a browser; undefined on every start but the first. */
  readonly firstAccess: string | undefined
  /** Reads the certificate again if its file has changed. */
  reload(): Promise<void>
  /** Closes all parts in order, within time limits. Returns true if every part closed in time. */
  end(): Promise<boolean>
}

/**
 * Starts the service. Its parts start in the order below and close in the reverse order.
 * @param onPasswordGenerated receives the password of root that the first start generates. It is stored nowhere, so show it.
 */
export const openHost = async (
  config: Config,
  parts: ProgramParts,
  onPasswordGenerated: (password: string) => void,
): Promise<RunningHost> => {
  await using shutdown = createShutdown(getAreaLogger('entry'))
  const { startWorker, eventsProcess } = parts
  const facts = readHostFacts()
  // Errors of the configuration must come before anything is opened.
  const signingKey = await readPackSigningKey(config)
  const routes = selectServedRoutes(config)

  const state = await openState(config, startWorker)
  shutdown.add('store', 'store', () => state[Symbol.asyncDispose]())
  const { store, identity, audit, events, passwords, idempotency } = state
  // The following parts can fail to start, and no later start shows the password.
  if (identity.newPassword !== undefined) onPasswordGenerated(identity.newPassword)

  if (config.backup_hours > 0) {
    const backups = scheduleBackups(store, {
      folder: getBackupFolder(config),
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
  const images = await openHostImages(config, { store, events })
  const {
    driver: unmeteredDriver,
    demoKernel,
    conversionTools,
  } = await openDriver(config, {
    folder: join(config.state, 'machines'),
    hostFiles,
    openImage: images.files.open,
    parts,
  })
  const driver = meterDriver(unmeteredDriver, metrics.countCall)
  const machines = await openHostMachines(config, { driver, facts, images, store, events })
  shutdown.add('machines', 'machines', machines.close)
  if (demoKernel && config.demo === 'on') await createDemo(config, machines, demoKernel)

  const ssh = openSsh(config)
  shutdown.add('SSH connections', 'rest', () => ssh.close())

  const readText = async (name: AssetName): Promise<string> => new TextDecoder().decode(await parts.readAsset(name))
  const { services, jobs, tunnels, cache, removeUnused, broadcast, addWorkToShutdown } = await openHostServices({
    routes,
    loadApiDescription: createApiDescriptionLoader(readText),
    state,
    driver,
    machines,
    images: { ...images, tools: conversionTools },
    facts,
    ssh,
    catalog: await openCatalogPorts(config, { store, events, hostFiles, startWorker, signingKey }),
    every,
    eventReaders: {
      limits: { user: config.subscriptions_per_user, all: config.subscriptions },
      openProcess:
        config.events === 'process'
          ? resources => openEventsProcess(config, { eventsProcess, store, events }, resources)
          : undefined,
    },
    metrics,
    healthChecks: {
      hypervisor: async () => describeHypervisor(driver.platform),
      storage: createStoreCheck(store),
      audit: createAuditCheck(audit),
      state_folder: createFolderCheck(config.state),
      ...(transport.health && { certificate: transport.health }),
    },
    onJobDefect: error =>
      getAreaLogger('jobs').error('A job failed unexpectedly: {reason}', { reason: messageOf(error), error }),
    onPoolFailed: (pool, error) =>
      getAreaLogger('machines').warning(
        'A machine of the pool {pool} could not be made, given away or deleted: {reason}',
        {
          pool,
          reason: messageOf(error),
        },
      ),
    schedules: {
      findUser: identity.actingFor,
      record: recordScheduledChange(audit),
      onFailed: ({ machine, name }, error) =>
        getAreaLogger('machines').warning('The schedule of snapshots {name} of {machine} has failed: {reason}', {
          name,
          machine,
          reason: messageOf(error),
        }),
    },
    shutdown,
  })
  const liveEvents = publishLiveEvents(broadcast, machines, () => services.subscriptions.stats().total_clients)
  shutdown.add('live events', 'rest', () => liveEvents[Symbol.dispose]())
  addHostGauges(metrics, { machines, cache })
  const controlLink = openControlLink(config, {
    machines,
    driver,
    facts,
    events,
    tunnels,
    nonce: state.trusted?.nonce,
  })
  if (controlLink) shutdown.add('link to the control', 'rest', () => controlLink[Symbol.dispose]())
  const gauges = addGauges(metrics, {
    jobs,
    events,
    subscriptions: services.subscriptions,
    passwords,
    store,
  })
  shutdown.add('commit counter', 'rest', () => gauges[Symbol.dispose]())

  const logRequest = createRequestLogger(getAreaLogger('http'), config.log === 'debug')
  const appOptions = {
    services,
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
  } satisfies Omit<AppOptions, 'routes' | 'authenticate'>
  const app = createApp({
    ...appOptions,
    routes,
    authenticate: identity.authenticate,
    redeemTicket: identity.redeemTicket,
    answerPage: createConsolePages(routes, readText, transport.headers),
  })
  // Interrupted jobs get their machines before new requests.
  const resumed = await jobs.resume(async ({ owner, apiKeyId, ...call }, progress) =>
    app.replay({ ...call, caller: await identity.actingFor({ id: owner, apiKeyId }) }, progress),
  )
  const removeUnusedFolders = async (): Promise<void> => {
    // Jobs that are left for the next start may need their work folders.
    if (await resumed.finished) await removeUnused()
  }
  removeUnusedFolders().catch((error: unknown) =>
    getAreaLogger('catalog').warning('{reason}', { reason: messageOf(error) }),
  )

  const socket = await openCommandLineSocket(config, appOptions, identity.root)
  if (socket) shutdown.add('socket of the command line', 'connections', () => socket[Symbol.asyncDispose]())
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
  addWorkToShutdown()

  // The password of a first start that was generated need not be typed: root can choose another one in a browser.
  const link = identity.newPassword === undefined ? undefined : await services.links.issue(await identity.root())
  const running = shutdown.move()
  return {
    url: listener.url,
    driver: driver.platform.hypervisorType,
    routes,
    certificate: transport.selfSignedFile,
    firstAccess: link && `${config.public_url?.origin ?? listener.url}/${link.fragment}`,
    reload: () => watch.reload(),
    end: running.end,
  }
}
