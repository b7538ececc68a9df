import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { openAudit } from '#lib/audit/audit.ts'
import { every } from '#lib/async/every.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { openControlHosts } from '#lib/compose/hosts/control-hosts.ts'
import { controlRoutes } from '#lib/compose/hosts/control-routes.ts'
import type { Services } from '#lib/compose/services.ts'
import { openEvents } from '#lib/events/events.ts'
import { createHealth } from '#lib/health/health.ts'
import type { Fetch } from '#lib/hosts/forward/send-to-host.ts'
import { type App, createApp } from '#lib/http/app.ts'
import { openIdempotency } from '#lib/idempotency/idempotency.ts'
import { openJobs } from '#lib/jobs/jobs.ts'
import { createMemoryStore } from '#lib/storage/memory-store.ts'
import type { Store } from '#lib/storage/store.ts'
import { openUserConfigs } from '#lib/user-configs/user-configs.ts'
import { newIdentity, identityKeys } from '../identity.ts'

export const controlIssuer = 'https://control.example.test'

/** A service that controls hosts, composed on Node over a store in memory. */
export interface Control extends AsyncDisposable {
  readonly app: App
  readonly store: Store
  readonly services: Partial<Services>
  publishUnreachable(): Promise<void>
}

interface Options {
  /** The store of an earlier one, which it continues. */
  readonly store?: Store
  readonly fetch?: Fetch
}

const refuseNetwork: Fetch = async url => {
  throw new Error(`a test without a network asked ${url}`)
}

export const openControl = async ({ store: given, fetch = refuseNetwork }: Options = {}): Promise<Control> => {
  const store = given ?? (await createMemoryStore())
  const events = await openEvents(store, { every })
  const { publish } = events
  const identity = await newIdentity({ store, publish })
  const audit = openAudit({ store, every, log: { error: () => {} }, retention: { days: 400, entries: 10_000 } })
  const jobs = await openJobs({
    store,
    publish,
    every,
    onEnded: () => {},
    onDefect(error) {
      throw error
    },
  })
  const idempotency = openIdempotency(store, { pepper: new Uint8Array(32), every })
  const hosts = await openControlHosts({
    store,
    publish,
    keys: identityKeys,
    issuer: controlIssuer,
    fetch,
  })
  const services: Partial<Services> = {
    ...identity.services,
    ...hosts.services,
    audit,
    jobs,
    events,
    userConfigs: openUserConfigs(store, publish),
    health: createHealth({}),
  }
  const provided = new Set(Object.keys(services))
  const app = createApp({
    routes: controlRoutes.filter(({ endpoint }) => endpoint.uses.every(name => provided.has(name))),
    services,
    authenticate: identity.authenticate,
    parseFilter,
    onOutcome: () => {},
    runIdempotent: idempotency.run,
    startJob: jobs.start,
    audit: createHttpAudit(audit),
    checkReplies: true,
  })
  const resumed = await jobs.resume(async ({ owner, apiKeyId, ...call }, progress) =>
    app.replay({ ...call, caller: await identity.actingFor({ id: owner, apiKeyId }) }, progress),
  )
  return {
    app,
    store,
    services,
    publishUnreachable: hosts.publishUnreachable,
    async [Symbol.asyncDispose]() {
      await jobs.close()
      await resumed.finished
      events.close()
      idempotency.close()
      await audit.close()
    },
  }
}
