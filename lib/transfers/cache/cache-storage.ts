import { readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyCounts } from '#lib/async/key-counts.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import type { Inventory } from '#lib/catalog/inventory.ts'
import type { Publish } from '#lib/events/events.ts'
import { exists, makePrivateFolder, removeTree, renameSynced } from '#lib/platform/files.ts'
import type { Store, Stored, Write } from '#lib/storage/store.ts'
import { getAudience } from './audience.ts'
import { CacheItem } from './cached-manifest.ts'

export interface CacheStorageOptions {
  readonly store: Store
  readonly publish: Publish
  /** The manifests of this catalog. */
  readonly inventory: Pick<Inventory, 'get'>
  readonly folder: string
  /** Maximum number of bytes of all items. The cache keeps nothing when it is 0. */
  readonly maxSize: number
  /** Bytes of the disk that stay free. */
  readonly minFree: number
}

export type StoredItem = CacheItem & Stored

/** The items of the cache: their records, their folders and their space. */
export interface CacheStorage {
  /** Lists the items, the most recently used one first. */
  list(): Promise<readonly StoredItem[]>
  find(sha256: string): Promise<StoredItem | undefined>
  /** Returns the folder of an item. */
  getPath(sha256: string): string
  /** Returns the bytes of all items on disk. */
  getSize(): number
  /** Says whether nobody is using an item. Only such an item may be removed. */
  isFree(item: CacheItem): boolean
  /** Runs `work`. Meanwhile the item is in use. */
  use<T>(sha256: string, work: () => Promise<T>): Promise<T>
  /**
   * Reserves space until the result is disposed of. Removes the items that were not used for the longest time, until there is
   * enough. Returns undefined when there is not enough even then.
   */
  reserve(bytes: number): Promise<Disposable | undefined>
  /** Adds an item whose files are in the folder `staging`. */
  add(item: CacheItem, staging: string): Promise<void>
  recordUse(item: StoredItem): Promise<void>
  remove(item: StoredItem): Promise<void>
}

const compareByLastUse = (a: CacheItem, b: CacheItem): number => (a.last_used_at < b.last_used_at ? 1 : -1)

/** Opens the items of the cache. Removes the records without a folder and the folders without a record. */
export const openCacheStorage = async (
  { store, publish, inventory, folder, maxSize, minFree }: CacheStorageOptions,
  onEvicted: () => void,
): Promise<CacheStorage> => {
  const items = store.collection('catalog-cache', CacheItem, { unique: { sha256: item => item.sha256 } })
  const withLock = createKeyedMutex()
  const uses = createKeyCounts()
  let size = 0
  let reservedBytes = 0
  const getPath = (sha256: string): string => join(folder, sha256)
  const isFree = ({ sha256 }: CacheItem): boolean => uses.get(sha256) === 0
  const listByUse = async (): Promise<readonly StoredItem[]> => (await items.list()).toSorted(compareByLastUse)

  const createEvent = (change: string, item: CacheItem): Write => {
    const { manifest, size: cacheSize, cached_at } = item
    const { catalog_id, version, architecture } = manifest
    return publish({
      type: 'catalog_cache',
      message: `CACHE_ITEM_${change}`,
      body: { catalog_id, version, architecture, cache_size: cacheSize, cache_type: 'folder', cached_date: cached_at },
      audience: getAudience(inventory, item),
    })
  }
  const remove = (item: StoredItem): Promise<void> =>
    withLock(item.sha256, async () => {
      // Another call may have removed the item meanwhile.
      if (!(await items.get(item.id))) return
      // The record goes first: the next start removes a folder without a record.
      await store.commit([items.remove({ id: item.id }), createEvent('REMOVED', item)])
      size -= item.size
      await removeTree(folder, getPath(item.sha256))
    })

  await makePrivateFolder(folder)
  for (const item of await items.list())
    if (await exists(getPath(item.sha256))) size += item.size
    else await store.commit([items.remove({ id: item.id })])
  for (const name of await readdir(folder))
    if (!(await items.find('sha256', name))) await removeTree(folder, join(folder, name))

  return {
    list: listByUse,
    find: sha256 => items.find('sha256', sha256),
    getPath,
    getSize: () => size,
    isFree,
    async use(sha256, work) {
      using _use = uses.add(sha256)
      return await work()
    },
    reserve: bytes =>
      // One reservation at a time, so that two cannot count the same free space.
      withLock('space', async () => {
        if (bytes > maxSize) return undefined
        const candidates = (await listByUse()).filter(isFree)
        for (;;) {
          const { bavail, bsize } = await statfs(folder)
          if (size + reservedBytes + bytes <= maxSize && bavail * bsize - reservedBytes - bytes >= minFree) {
            reservedBytes += bytes
            return {
              [Symbol.dispose]() {
                reservedBytes -= bytes
              },
            }
          }
          const oldest = candidates.pop()
          if (!oldest) return undefined
          if (!isFree(oldest)) continue
          await remove(oldest)
          onEvicted()
        }
      }),
    async add(item, staging) {
      const path = getPath(item.sha256)
      await renameSynced(staging, path)
      await store.commit([items.put(item), createEvent('ADDED', item)]).catch(async (error: unknown) => {
        // If the removal fails too, the next start removes the folder.
        await removeTree(folder, path).catch(() => undefined)
        throw error
      })
      size += item.size
    },
    async recordUse({ id }) {
      await items.update(id, item => ({
        ...item,
        used_count: item.used_count + 1,
        last_used_at: new Date().toISOString(),
      }))
    },
    remove,
  }
}
