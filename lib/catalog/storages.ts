import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isInside, isSystemError } from '#lib/platform/files.ts'
import type { Storage } from './connection.ts'
import type { ProviderType } from './provider-types.ts'
import { createArtifactory } from './providers/artifactory.ts'
import { createAzure } from './providers/azure.ts'
import { createLocalStorage } from './providers/local-storage.ts'
import { createOci } from './providers/oci/oci.ts'
import type { Provider } from './providers/provider.ts'
import { createS3 } from './providers/s3.ts'

/** Opens what connections name; one provider for each storage, however often it is asked for. */
export interface Storages {
  /** Throws `forbidden` for a folder that the catalog may not use, and what the provider refuses with. */
  open(storage: Storage): Promise<Provider>
}

interface Options {
  /** Where local storage is that names no folder of its own. */
  readonly folder: string
  /** Other folders that local storage may be in, with all below them; any when empty. */
  readonly allowed: readonly string[]
  /** Where the credentials of a cloud are that a connection may say to use. */
  readonly environment?: NodeJS.ProcessEnv
  /** What no local storage may be in, but for `folder`. */
  readonly state: string
}

/** Storages that are kept open: each holds a few connections and its credentials. */
const most = 64

/** The real path of a folder that may not be there yet: links in what is there of it are followed. */
const realFolder = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isSystemError(error, 'ENOENT') || dirname(path) === path) throw error
    return resolve(await realFolder(dirname(path)), path.slice(dirname(path).length).replace(/^\//, ''))
  }
}

const within = (root: string, path: string): boolean => path === root || isInside(root, path)

export const createStorages = ({ folder, allowed, state, environment = {} }: Options): Storages => {
  const openLocal = async (path = folder): Promise<Provider> => {
    if (path.includes('\0') || !path.startsWith('/'))
      throw new ServiceError('invalid', 'The catalog_path of local storage is not an absolute path.')
    const [real, own, kept] = await Promise.all([path, folder, state].map(realFolder))
    const mayUse =
      within(own!, real!) ||
      (!within(kept!, real!) && (allowed.length === 0 || allowed.some(root => within(root, real!))))
    if (!mayUse) throw new ServiceError('forbidden', `${path} is outside the folders that the catalog may use.`)
    return createLocalStorage(real!)
  }
  const openS3 = (storage: Storage): Promise<Provider> => createS3(storage, undefined, environment)
  const kinds: Readonly<Record<ProviderType, (storage: Storage) => Promise<Provider>>> = {
    'local-storage': ({ meta }) => openLocal(meta['catalog_path'] || undefined),
    'aws-s3': openS3,
    minio: openS3,
    'azure-storage-account': createAzure,
    artifactory: createArtifactory,
    oci: createOci,
  }
  const opened = new Map<string, Promise<Provider>>()

  return {
    open(storage) {
      const { type, meta } = storage
      const key = createHash('sha256')
        .update(JSON.stringify([type, Object.entries(meta).toSorted(([a], [b]) => (a < b ? -1 : 1))]))
        .digest('hex')
      const provider = opened.get(key) ?? kinds[type](storage)
      // The one that was not asked for the longest goes first.
      opened.delete(key)
      opened.set(key, provider)
      if (opened.size > most) opened.delete(opened.keys().next().value!)
      provider.catch(() => opened.delete(key))
      return provider
    },
  }
}
