import { createCatalog } from '#lib/catalog/catalog.ts'
import type { CatalogContext } from '#lib/catalog/changes.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { Machines } from '#lib/machines/machines.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { createManagerServices } from '#lib/remote-catalogs/managers/manager-services.ts'
import type { ManagerRecords } from '#lib/remote-catalogs/managers/records.ts'
import { createRemoteClient, type RemoteLimits } from '#lib/remote-catalogs/remote-client.ts'
import { type Cache, openCache } from '#lib/transfers/cache/cache.ts'
import type { CacheStorageOptions } from '#lib/transfers/cache/cache-storage.ts'
import type { TransferContext } from '#lib/transfers/context.ts'
import { createDownloads } from '#lib/transfers/download/downloads.ts'
import { openWorkFolders } from '#lib/platform/work-folders.ts'
import { createTransfers } from '#lib/transfers/transfers.ts'
import type { Services } from './services.ts'

/** What a program hands in for the catalog and its transfers. */
export interface CatalogPorts extends Pick<
  TransferContext,
  'hostFiles' | 'startWorker' | 'trust' | 'control' | 'signingKey' | 'warn'
> {
  readonly catalog: CatalogContext
  readonly cache: Pick<CacheStorageOptions, 'folder' | 'maxSize' | 'minFree'>
  /** The folder of the transfers under way. */
  readonly workFolder: string
  /** How transfers and catalog managers reach other services. */
  readonly outgoing: { readonly transfers: SendOutgoing; readonly managers: SendOutgoing }
  readonly remoteLimits: RemoteLimits
}

interface Parts extends Pick<CacheStorageOptions, 'store' | 'publish'> {
  readonly managerRecords: ManagerRecords
  readonly machines: Machines
  readonly driver: Pick<HypervisorDriver, 'kind' | 'platform'>
}

interface CatalogServices {
  readonly services: Pick<Services, 'catalog' | 'transfers' | 'catalogCache' | 'catalogManagers' | 'managedCatalogs'>
  readonly cache: Cache
  /** Removes the work folders of earlier processes that no resumed transfer uses. Call it after the resumed ones have ended. */
  removeUnused(): Promise<void>
}

/** Opens the catalog of a program that runs machines: its cache, its transfers, and the catalogs of other services. */
export const openCatalogServices = async (
  { catalog, cache: limits, workFolder, outgoing, remoteLimits, ...transferPorts }: CatalogPorts,
  { store, publish, managerRecords, machines, driver }: Parts,
): Promise<CatalogServices> => {
  const cache = await openCache({ store, publish, inventory: catalog.inventory, ...limits })
  const folders = await openWorkFolders(workFolder)
  const transfers = createTransfers({
    ...transferPorts,
    catalog,
    machines,
    remote: createRemoteClient(outgoing.transfers, remoteLimits),
    folders,
    downloads: createDownloads(folders),
    cache,
    architecture: driver.platform.cpuType === 'arm' ? 'arm64' : 'x86_64',
    machineType: driver.kind,
  })
  const managers = createManagerServices({
    store,
    publish,
    records: managerRecords,
    outgoing: outgoing.managers,
    limits: remoteLimits,
  })
  return {
    services: { catalog: createCatalog(catalog), transfers, catalogCache: cache, ...managers },
    cache,
    removeUnused: folders.removeUnused,
  }
}
