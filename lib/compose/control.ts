import type { JWK } from 'jose'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { createPasswords, type PasswordHasher } from '#lib/auth/passwords.ts'
import { createStoredKeys } from '#lib/auth/key-keepers/stored-keys.ts'
import type { HibernatingSockets } from '#lib/events/hibernating/socket.ts'
import type { HibernatingSubscriptions } from '#lib/events/hibernating/subscriptions.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { type App, createApp } from '#lib/http/app.ts'
import { createCors } from '#lib/http/cors.ts'
import type { ApiDescription } from '#lib/http/openapi.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { openDurableObjectStore } from '#lib/storage/durable-object/open-store.ts'
import type { DurableObjectStorage } from '#lib/storage/durable-object/sql.ts'
import { createAlarmTimers } from './alarm-timers.ts'
import { controlRoutes } from './hosts/control-routes.ts'
import { openControlServices } from './control-services.ts'
import type { EdgeConfig } from './edge-config.ts'
import type { CountedRefusals } from './gateway/refusals.ts'
import { addGauges } from './gauges.ts'
import { createRequestLogger } from './request-log.ts'
import { selectServedRoutes } from './served-routes.ts'
import { openStateParts } from './state-parts.ts'

/** What the program in which a control runs hands in. */
export interface ControlPorts {
  readonly storage: DurableObjectStorage
  readonly sockets: HibernatingSockets
  readonly config: EdgeConfig
  readonly hasher: PasswordHasher
  readonly loadApiDescription: () => Promise<ApiDescription>
}

/** The service without machines. It is the only writer of its store, and may sleep while nobody calls it. */
export interface Control {
  readonly app: App
  readonly subscriptions: HibernatingSubscriptions
  /** The public keys, with which others can check the signatures of its tokens. */
  publicKeys(): Promise<readonly JWK[]>
  /** Adds what a gateway has refused to the audit, which only counts refusals when there are many. */
  recordRefusals(refusals: readonly CountedRefusals[]): Promise<void>
  /** Runs the work that is due from time to time. */
  runTimers(): Promise<void>
  /** The time (ms since 1970) at which somebody has to wake the control to run its timers. */
  getNextWake(): number
}

/** Milliseconds after which a control wakes: to find silent hosts if it has any, else to remove what is too old. */
const wakeIntervals = { withHosts: 30_000, withoutHosts: 3_600_000 } as const

/** The platform serves HTTPS alone. */
const headers = { 'Strict-Transport-Security': 'max-age=31536000' }

/** The options of replies that the application of a control and the gateway in front of it have in common. */
export const createReplyOptions = ({ cors_origins: origins }: Pick<EdgeConfig, 'cors_origins'>) => ({
  cors: origins.length > 0 ? createCors(origins) : undefined,
  headers,
})

/** Opens a control on the storage of a Durable Object. */
export const openControl = async ({
  storage,
  sockets,
  config,
  hasher,
  loadApiDescription,
}: ControlPorts): Promise<Control> => {
  const store = await openDurableObjectStore(storage)
  const { every, runDue } = createAlarmTimers(store)
  const passwords = createPasswords({ hasher })
  const state = await openStateParts({
    store,
    keeper: createStoredKeys(store),
    passwords,
    every,
    auditLog: getAreaLogger('audit'),
    settings: config,
    // A control starts whenever it wakes.
    rootPasswordUse: 'once',
  })
  const { identity, audit, idempotency } = state
  const routes = selectServedRoutes(config, controlRoutes)
  const { services, jobs, metrics, subscriptions, hasHosts } = await openControlServices({
    routes,
    loadApiDescription,
    store,
    state,
    every,
    settings: config,
    sockets,
  })
  addGauges(metrics, { jobs, events: state.events, subscriptions, passwords, store })
  const logRequest = createRequestLogger(getAreaLogger('http'), config.log === 'debug')
  const app = createApp({
    ...createReplyOptions(config),
    routes,
    services,
    authenticate: identity.authenticate,
    redeemTicket: identity.redeemTicket,
    parseFilter,
    onOutcome(context, outcome) {
      metrics.countReply(context.route?.id, outcome)
      logRequest(context, outcome)
    },
    audit: createHttpAudit(audit),
    runIdempotent: idempotency.run,
    startJob: jobs.start,
    checkReplies: false,
  })
  await jobs.resume(async ({ owner, apiKeyId, ...call }, progress) =>
    app.replay({ ...call, caller: await identity.actingFor({ id: owner, apiKeyId }) }, progress),
  )
  return {
    app,
    subscriptions,
    publicKeys: identity.services.keys.publicKeys,
    async recordRefusals(refusals) {
      for (const { facts, count } of refusals)
        await audit.record({ ...facts, ...(count > 1 && { repeated: count - 1 }) })
    },
    runTimers: runDue,
    getNextWake() {
      const interval = hasHosts() ? wakeIntervals.withHosts : wakeIntervals.withoutHosts
      return Math.min(Date.now() + interval, subscriptions.nextExpiry() ?? Infinity)
    },
  }
}
