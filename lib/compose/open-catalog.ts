import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cache, openCache } from '#lib/transfers/cache/cache.ts'
import { type Catalog, createCatalog, openCatalogContext } from '#lib/catalog/catalog.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import { createRemoteClient } from '#lib/remote-catalogs/remote-client.ts'
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
import { getAreaLogger } from '#lib/platform/log.ts'
import { describeSystemError } from '#lib/platform/system-errors.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { privateNetworks } from '#lib/platform/outgoing-addresses.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import { getCatalogFolder, openStorageHostFiles } from './host-files.ts'
import type { State } from './state.ts'

/** Opens the catalog of a state folder, with the storages of its packs. */
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
      folder: getCatalogFolder(config),
      hostFiles: await openStorageHostFiles(config),
      environment: process.env,
    }),
  })

/**
 * Reads the key that signs pushed packs, as PEM. Throws `invalid` with the name of the setting if the file is not such a key.
 */
export const readPackSigningKey = async ({
  pack_signing_key: file,
}: Pick<Config, 'pack_signing_key'>): Promise<string | undefined> => {
  if (file === undefined) return undefined
  const fail = (reason: string): never => {
    throw new ServiceError('invalid', `pack_signing_key is ${file}, which cannot be used: ${reason}`)
  }
  const pem = await readFile(file, 'utf8').catch((error: unknown) => fail(`${describeSystemError(error)}.`))
  try {
    parseSigningKey(pem)
  } catch (error) {
    fail(messageOf(error))
  }
  return pem
}

interface Parts extends Pick<State, 'store' | 'events'> {
  readonly machines: Machines
  readonly driver: Pick<HypervisorDriver, 'kind' | 'platform'>
  /** The files and folders of the host that a push may read. */
  readonly hostFiles: HostFiles
  readonly startWorker: StartWorker
  readonly signingKey: string | undefined
}

interface CatalogServices {
  readonly catalog: Catalog
  readonly catalogCache: Cache
  readonly transfers: Transfers
  /** Removes the work folders of earlier processes that no resumed transfer uses. Call it after the resumed ones have ended. */
  removeUnused(): Promise<void>
}

/** Opens the catalog of a running host, its cache and its transfers. */
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
    remote: createRemoteClient(createOutgoing({ allowed: privateNetworks })),
    folders,
    downloads: createDownloads(folders),
    cache: catalogCache,
    startWorker,
    architecture: driver.platform.cpuType === 'arm' ? 'arm64' : 'x86_64',
    machineType: driver.kind,
    hostFiles,
    trust: { policy: config.pack_trust, keys: config.pack_trusted_keys },
    signingKey,
    warn: text => getAreaLogger('catalog').warning('{text}', { text }),
  })
  return { catalog: createCatalog(catalog), catalogCache, transfers, removeUnused: folders.removeUnused }
}
