import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cache, openCache } from '#lib/transfers/cache/cache.ts'
import { type Catalog, createCatalog, openCatalogContext } from '#lib/catalog/catalog.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import { createRemote } from '#lib/remote-catalogs/remote-client.ts'
import { createStorages } from '#lib/objects/storages.ts'
import { createDownloads } from '#lib/transfers/download/downloads.ts'
import { createTransfers, type Transfers } from '#lib/transfers/transfers.ts'
import { openWorkFolders } from '#lib/transfers/download/work-folders.ts'
import { parseSigningKey } from '#lib/packs/sidecar.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Config } from './config.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { logOf } from '#lib/platform/log.ts'
import { systemReason } from '#lib/platform/system-errors.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { privateNetworks } from '#lib/platform/outgoing-addresses.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { catalogFolderOf, openStorageHostFiles } from './host-files.ts'
import type { State } from './state.ts'

/** The catalog of a state folder, with the storages of its packs. */
export const openCatalog = async (
  config: Config,
  { store, events, startWorker }: Pick<Parts, 'store' | 'events' | 'startWorker'>,
): Promise<CatalogContext> =>
  openCatalogContext({
    store,
    publish: events.publish,
    startWorker,
    manifestsPerUser: config.manifests_per_user,
    storages: createStorages({
      folder: catalogFolderOf(config),
      hostFiles: await openStorageHostFiles(config),
      environment: process.env,
    }),
  })

/** The PEM text of the key that pushed packs are signed with. Throws `invalid`, naming the setting, for what is none. */
export const readPackSigningKey = async ({
  pack_signing_key: file,
}: Pick<Config, 'pack_signing_key'>): Promise<string | undefined> => {
  if (file === undefined) return undefined
  const wrong = (why: string): never => {
    throw new ServiceError('invalid', `pack_signing_key is ${file}, which cannot be used: ${why}`)
  }
  const pem = await readFile(file, 'utf8').catch((error: unknown) => wrong(`${systemReason(error)}.`))
  try {
    parseSigningKey(pem)
  } catch (error) {
    wrong(messageOf(error))
  }
  return pem
}

interface Parts extends Pick<State, 'store' | 'events'> {
  readonly machines: Machines
  readonly driver: Pick<HypervisorDriver, 'kind' | 'platform'>
  /** What bundles may be pushed from. */
  readonly hostFiles: HostFiles
  readonly startWorker: StartWorker
  readonly signingKey: string | undefined
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
  { store, events, machines, driver, hostFiles, startWorker, signingKey }: Parts,
): Promise<CatalogServices> => {
  const catalog = await openCatalog(config, { store, events, startWorker })
  const catalogCache = await openCache({
    store,
    publish: events.publish,
    inventory: catalog.inventory,
    folder: config.cache_folder ?? join(config.state, 'cache'),
    maxSize: config.cache_size * 2 ** 20,
    minFree: config.cache_keep_free * 2 ** 20,
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
    hostFiles,
    trust: { policy: config.pack_trust, keys: config.pack_trusted_keys },
    signingKey,
    warn: text => logOf('catalog').warning('{text}', { text }),
  })
  return { catalog: createCatalog(catalog), catalogCache, transfers, removeUnused: folders.removeUnused }
}
