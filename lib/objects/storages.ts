import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { joinWords } from '#lib/join-words.ts'
import { keysOf } from '#lib/keys-of.ts'
import type { Storage } from './port/connection.ts'
import { guardWrites } from './port/guard-writes.ts'
import type { Provider } from './port/provider.ts'
import { getProviderKind } from './port/provider-kinds.ts'
import type { StorageKind, StorageKinds } from './port/storage-kind.ts'

/** Opens the storages of connections and caches their providers. */
export interface Storages {
  /**
   * Throws `forbidden` for a folder that the catalog may not use, `unsupported` for a kind of storage that this program does
   * not have, and the errors of the provider.
   */
  open(storage: Storage): Promise<Provider>
  /** Identifies a storage by a path that does not depend on its credentials. The objects are below it. Throws `unsupported`. */
  getStorageKey(storage: Storage): Promise<string>
  /** The path of an object, and when it is a link also the path of its target. */
  getObjectLocations(storage: Storage, path: string): Promise<readonly string[]>
}

/** Providers in the cache: each holds a few connections and its credentials. */
const maxOpen = 64

export const createStorages = (kinds: StorageKinds): Storages => {
  const opened = new Map<string, Promise<Provider>>()
  const getKind = (type: Storage['type']): StorageKind => {
    const kind = kinds[type]
    if (kind) return kind
    throw new ServiceError(
      'unsupported',
      `This service cannot open storage of the kind ${type}; use ${joinWords(keysOf(kinds), 'or')}.`,
    )
  }
  const getStorageKey: Storages['getStorageKey'] = async ({ type, meta }) => {
    const kind = getKind(type)
    const key = getProviderKind(type).storageKey(meta)
    return kind.resolveRoot?.(key) ?? key
  }

  const writing = new Set<string>()
  const openGuarded = async (storage: Storage): Promise<Provider> => {
    const kind = getKind(storage.type)
    const provider = await kind.open(storage)
    // Several connections may be open on one storage.
    const root = await getStorageKey(storage)
    return guardWrites(provider, {
      writing,
      getKey: path => kind.resolveTarget?.(join(root, path)) ?? join(root, path),
    })
  }

  return {
    getStorageKey,
    async getObjectLocations(storage, path) {
      const location = join(await getStorageKey(storage), path)
      const target = await kinds[storage.type]?.resolveObject?.(location)
      return target === undefined ? [location] : [location, target]
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
      if (opened.size > maxOpen) for (const oldest of opened.keys().take(1)) opened.delete(oldest)
      provider.catch(() => opened.delete(key))
      return provider
    },
  }
}
