import { createHash } from 'node:crypto'
import { basename, dirname, join, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from '#lib/platform/files.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { resolveRealPath } from '#lib/platform/real-path.ts'
import { parseSettings, type Storage } from './port/connection.ts'
import { getProviderKind, type ProviderType } from './port/provider-kinds.ts'
import { LocalSettings } from './port/provider-settings.ts'
import { createArtifactory } from './artifactory/artifactory.ts'
import { createAzure } from './azure/azure.ts'
import { createLocalStorage } from './local/local-storage.ts'
import { withStorageErrors } from './local/storage-errors.ts'
import { createFetcher } from './http/send.ts'
import { createOci } from './oci/oci.ts'
import { guardWrites } from './port/guard-writes.ts'
import type { Provider } from './port/provider.ts'
import { createS3 } from './s3/s3.ts'

/** Opens the storages of connections and caches their providers. */
export interface Storages {
  /** Throws `forbidden` for a folder that the catalog may not use, and the errors of the provider. */
  open(storage: Storage): Promise<Provider>
  /** Identifies a storage by a path that does not depend on its credentials. The objects are below it. */
  getStorageKey(storage: Storage): Promise<string>
  /** The path of an object, and when it is a link also the path of its target. */
  getObjectLocations(storage: Storage, path: string): Promise<readonly string[]>
}

interface Options {
  /** The folder of local storage whose connection names none. */
  readonly folder: string
  /** Says which folders local storage may be in; `folder` is one of them. */
  readonly hostFiles: Pick<HostFiles, 'folder' | 'isProtected' | 'isProtectedFile'>
  /** Has the credentials for connections that use those of the environment. */
  readonly environment?: NodeJS.ProcessEnv
}

/** Providers in the cache: each holds a few connections and its credentials. */
const maxOpen = 64

export const createStorages = ({ folder, hostFiles, environment = {} }: Options): Storages => {
  const openLocal = async (path = folder): Promise<Provider> => {
    if (path.includes('\0') || !path.startsWith('/'))
      throw new ServiceError('invalid', 'The catalog_path of local storage is not an absolute path.')
    const real = await withStorageErrors(path, () => hostFiles.folder(path))
    return createLocalStorage(real, {
      // The folder itself may have become a link since it was checked.
      isExcluded: found => (found !== real && !isInside(real, found)) || hostFiles.isProtected(found),
      isServiceFile: hostFiles.isProtectedFile,
      create: path === folder,
    })
  }
  const openS3 = (storage: Storage): Promise<Provider> => createS3(storage, createFetcher, environment)
  const openers: Readonly<Record<ProviderType, (storage: Storage) => Promise<Provider>>> = {
    'local-storage': storage => openLocal(parseSettings(LocalSettings, storage).catalog_path || undefined),
    'aws-s3': openS3,
    minio: openS3,
    'azure-storage-account': storage => createAzure(storage, createFetcher()),
    artifactory: storage => createArtifactory(storage, createFetcher()),
    oci: storage => createOci(storage, { fetcher: createFetcher() }),
  }
  const opened = new Map<string, Promise<Provider>>()
  const getStorageKey: Storages['getStorageKey'] = async ({ type, meta }) => {
    const key = getProviderKind(type).storageKey(meta)
    if (type !== 'local-storage') return key
    const path = key || folder
    // A path that cannot be resolved has no objects.
    return resolveRealPath(path).catch(() => resolve(path))
  }

  const writing = new Set<string>()
  const openGuarded = async (storage: Storage): Promise<Provider> => {
    const provider = await openers[storage.type](storage)
    // Several connections may be open on one storage.
    const root = await getStorageKey(storage)
    if (storage.type !== 'local-storage') return guardWrites(provider, { writing, getKey: path => join(root, path) })
    // Links may lead to one folder. The provider refuses a folder that cannot be resolved.
    const getKey = async (path: string): Promise<string> => {
      const parent = dirname(join(root, path))
      return join(await resolveRealPath(parent).catch(() => parent), basename(path))
    }
    return guardWrites(provider, { writing, getKey })
  }

  return {
    getStorageKey,
    async getObjectLocations(storage, path) {
      const location = join(await getStorageKey(storage), path)
      return storage.type === 'local-storage'
        ? [location, await resolveRealPath(location).catch(() => location)]
        : [location]
    },
    open(storage) {
      const { type, meta } = storage
      const key = createHash('sha256')
        .update(JSON.stringify([type, Object.entries(meta).toSorted(([a], [b]) => (a < b ? -1 : 1))]))
        .digest('hex')
      const provider = opened.get(key) ?? openGuarded(storage)
      // Least recently used first.
      opened.delete(key)
      opened.set(key, provider)
      if (opened.size > maxOpen) opened.delete(opened.keys().next().value!)
      provider.catch(() => opened.delete(key))
      return provider
    },
  }
}
