import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cache, openCache } from '#lib/catalog/cache/cache.ts'
import { type Catalog, createCatalog, openCatalogContext } from '#lib/catalog/catalog.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import { createRemote } from '#lib/catalog/remote/remote.ts'
import { createStorages } from '#lib/catalog/storages.ts'
import { createDownloads } from '#lib/catalog/transfers/downloads.ts'
import { createTransfers, type Transfers } from '#lib/catalog/transfers/transfers.ts'
import { openWorkFolders } from '#lib/catalog/transfers/work-folder.ts'
import type { Config } from '#lib/config.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { logOf } from '#lib/platform/log.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { privateNetworks } from '#lib/platform/outgoing-addresses.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { State } from './state.ts'

const realFolder = (folder: string): string => {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw new ServiceError('invalid', `The allowed folder ${folder} cannot be used: ${messageOf(error)}`)
  }
}

/** The folders outside the state that may be used, as they really are. Throws `invalid` for one that cannot be. */
export const allowedFoldersOf = (config: Pick<Config, 'allowed_folders'>): readonly string[] =>
  config.allowed_folders.map(realFolder)

/** The catalog of a state folder, with the storages of its packs. */
export const openCatalog = (
  config: Config,
  { store, events }: Pick<State, 'store' | 'events'>,
): Promise<CatalogContext> =>
  openCatalogContext({
    store,
    tell: events.tell,
    storages: createStorages({
      folder: join(config.state, 'catalog'),
      allowed: allowedFoldersOf(config),
      state: config.state,
      environment: process.env,
    }),
  })

interface Parts extends Pick<State, 'store' | 'events'> {
  readonly machines: Machines
  readonly driver: Pick<HypervisorDriver, 'kind' | 'platform'>
  readonly startWorker: StartWorker
}

interface CatalogServices {
  readonly catalog: Catalog
  readonly catalogCache: Cache
  readonly transfers: Transfers
  /** Removes what transfers of the last process have left, once those that go on have taken up what is theirs. */
  removeUnused(): Promise<void>
}

/** The catalog of a running host: its records, and what brings machines into catalogs and out of them. */
export const openCatalogServices = async (
  config: Config,
  { store, events, machines, driver, startWorker }: Parts,
): Promise<CatalogServices> => {
  const catalog = await openCatalog(config, { store, events })
  const catalogCache = await openCache({
    store,
    tell: events.tell,
    inventory: catalog.inventory,
    folder: config.cache_folder ?? join(config.state, 'cache'),
    budget: config.cache_size * 2 ** 20,
    keepFree: config.cache_keep_free * 2 ** 20,
  })
  const folders = await openWorkFolders(join(config.state, 'transfers'))
  const transfers = createTransfers({
    catalog,
    machines,
    remote: createRemote(createOutgoing({ allowed: privateNetworks })),
    folders,
    downloads: createDownloads(folders),
    cache: catalogCache,
    startWorker,
    architecture: driver.platform.cpuType === 'arm' ? 'arm64' : 'x86_64',
    machineType: driver.kind,
    allowedFolders: allowedFoldersOf(config),
    trust: { policy: config.pack_trust, keys: config.pack_trusted_keys },
    signingKey: config.pack_signing_key === undefined ? undefined : await readFile(config.pack_signing_key, 'utf8'),
    warn: text => logOf('catalog').warning('{text}', { text }),
  })
  return { catalog: createCatalog(catalog), catalogCache, transfers, removeUnused: folders.removeUnused }
}
