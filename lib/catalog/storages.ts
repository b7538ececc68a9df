import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from '#lib/platform/files.ts'
import { realPathOf } from '#lib/platform/real-path.ts'
import type { Storage } from './connection.ts'
import { kindOf, type ProviderType } from './provider-types.ts'
import { createArtifactory } from './providers/artifactory.ts'
import { createAzure } from './providers/azure.ts'
import { createLocalStorage } from './providers/local-storage.ts'
import { withLocal } from './providers/local-failures.ts'
import { createOci } from './providers/oci/oci.ts'
import type { Provider } from './providers/provider.ts'
import { createS3 } from './providers/s3.ts'

/** Opens what connections name; one provider for each storage, however often it is asked for. */
export interface Storages {
  /** Throws `forbidden` for a folder that the catalog may not use, and what the provider refuses with. */
  open(storage: Storage): Promise<Provider>
  /** Where a storage is: the same for those that are one place, whatever opens them. Objects are below it. */
  placeOf(storage: Storage): Promise<string>
  /** Where an object is, and where it leads when it is a link. */
  placesOf(storage: Storage, path: string): Promise<readonly string[]>
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

const within = (root: string, path: string): boolean => path === root || isInside(root, path)

export const createStorages = ({ folder, allowed, state, environment = {} }: Options): Storages => {
  const openLocal = async (path = folder): Promise<Provider> => {
    if (path.includes('\0') || !path.startsWith('/'))
      throw new ServiceError('invalid', 'The catalog_path of local storage is not an absolute path.')
    const [real, own, kept] = await Promise.all([path, folder, state].map(one => withLocal(one, () => realPathOf(one))))
    const mayUse =
      within(own!, real!) ||
      (!within(kept!, real!) && (allowed.length === 0 || allowed.some(root => within(root, real!))))
    if (!mayUse) throw new ServiceError('forbidden', `${path} is outside the folders that the catalog may use.`)
    return createLocalStorage(real!, {
      except: file => within(kept!, file) && !within(own!, file),
      make: real === own,
    })
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
  const placeOf: Storages['placeOf'] = async ({ type, meta }) =>
    type === 'local-storage'
      ? // What cannot be a folder has no object of anybody's.
        realPathOf(meta['catalog_path'] || folder).catch(() => resolve(meta['catalog_path']!))
      : kindOf(type).place(meta)

  return {
    placeOf,
    async placesOf(storage, path) {
      const place = join(await placeOf(storage), path)
      return storage.type === 'local-storage' ? [place, await realPathOf(place).catch(() => place)] : [place]
    },
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
