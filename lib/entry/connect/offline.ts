import { existsSync } from 'node:fs'
import { createHttpAudit } from '#lib/audit/http-audit.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { createCatalog } from '#lib/catalog/catalog.ts'
import type { Config } from '#lib/compose/config.ts'
import { openCatalog } from '#lib/compose/open-catalog.ts'
import { selectServedRoutes } from '#lib/compose/served-routes.ts'
import { composeStateServices } from '#lib/compose/state-services.ts'
import { openState } from '#lib/compose/state.ts'
import { ServiceError } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import { openLog } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { withFullDiskError } from '#lib/storage/full-disk.ts'
import { getStoreFile } from '#lib/storage/open-store.ts'
import type { SendFetch } from './node-fetch.ts'

/**
 * Opens the state folder and serves the endpoints of users, of the audit, and of the catalog if needed, with the same checks, events
 * and audit as a service. Throws `unavailable` if the folder has no store.
 */
export const withOfflineService = async (
  config: Config,
  startWorker: StartWorker,
  needs: 'identity' | 'catalog',
  work: (fetch: SendFetch) => Promise<void>,
): Promise<void> => {
  if (!existsSync(getStoreFile(config.state)))
    throw new ServiceError(
      'unavailable',
      `There is no vmhost state in ${config.state}. Start the service once, or name another folder with --state.`,
    )
  await openLog('warning')
  await using state = await withFullDiskError(config.state, () => openState(config, startWorker))
  const services = {
    ...composeStateServices(state),
    ...(needs === 'catalog' && { catalog: createCatalog(await openCatalog(config, { ...state, startWorker })) }),
  }
  // A command may call endpoints that the configuration hides from clients of the service.
  const routes = selectServedRoutes({ ...config, routes_include: [], routes_exclude: [] })
  const app = createApp({
    routes: routes.filter(({ endpoint }) => endpoint.uses.every(name => name in services)),
    services,
    // Whoever may open the state folder acts as root.
    authenticate: () => state.identity.root(),
    parseFilter,
    onOutcome: () => {},
    audit: createHttpAudit(state.audit),
    checkReplies: false,
  })
  await work(async (url, init) => app.fetch(new Request(url, init), { address: 'local' }))
}
