import { readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '#lib/access/principal.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import { exists, isDiskFull, makePrivateFolder, removeTree, renameSynced } from '#lib/platform/files.ts'
import type { Store, Stored, Write } from '#lib/storage/store.ts'
import type { Inventory } from '#lib/catalog/inventory.ts'
import { normalizeCatalogId } from '#lib/catalog/identifiers.ts'
import type { UnpackedFile } from '#lib/packs/unpacker.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { knownTo, toldOf } from './audience.ts'
import { copyVerified, sizeOnDisk } from './copy-verified.ts'
import { type CachedManifest, CacheItem } from './cached-manifest.ts'

/** What of the cache a deletion means. */
export interface CachePlace {
  readonly catalogId?: string | undefined
  /** `ALL` is every version. */
  readonly version?: string | undefined
}

interface Following {
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
}

/** Machines that were pulled, kept unpacked for the next pull of the same pack. */
export interface Cache {
  /** What a caller may know of, the one that was used last first. */
  list(caller: Principal): Promise<readonly CachedManifest[]>
  /** Deletes what a caller may know of; gives how many. Throws `not-found`, and `conflict` when all of it is in use. */
  remove(caller: Principal, place: CachePlace): Promise<number>
  /**
   * Puts a machine into an empty folder, verified; gives where it is kept, or undefined when it is not, or not rightly, or
   * not for this caller: whoever knows a digest does not have the pack yet, but who was told of it by the same catalog does.
   * Throws `no-space`.
   */
  restore(
    caller: Principal,
    pack: { readonly sha256: string; readonly catalog?: string | undefined },
    folder: string,
    how: Following,
  ): Promise<string | undefined>
  /** Keeps a machine that was unpacked into a folder, where there is room; gives where. */
  keep(
    pack: Pick<CacheItem, 'sha256' | 'manifest' | 'catalog' | 'owner'>,
    files: readonly UnpackedFile[],
    folder: string,
    how: Following,
  ): Promise<string | undefined>
  readonly counters: Readonly<Record<'hits' | 'misses' | 'evictions', number>>
  /** Bytes on disk. */
  size(): number
}

interface Options {
  readonly store: Store
  readonly publish: Publish
  /** The manifests of this catalog. */
  readonly inventory: Pick<Inventory, 'get'>
  readonly folder: string
  /** Bytes that all items may take; 0 keeps none. */
  readonly budget: number
  /** Bytes of the disk that stay free. */
  readonly keepFree: number
}

/** Bytes of holes: to verify a copy reads them too, and a machine of more is fetched again in less time. */
const mostHoles = 2 ** 40

const newestFirst = (a: CacheItem, b: CacheItem): number => (a.last_used_at < b.last_used_at ? 1 : -1)

/** What says that a machine in the cache cannot be read any more. Throws what is not about that. */
const unreadable =
  (signal: AbortSignal) =>
  (error: unknown): string => {
    signal.throwIfAborted()
    if (!isDiskFull(error)) return messageOf(error)
    throw new ServiceError(
      'no-space',
      'There is not enough space on the disk for the machine. Make room, and try again.',
    )
  }

/** Opens the cache; what of it is on disk without being on record, or the other way round, is let go. */
export const openCache = async ({ store, publish, inventory, folder, budget, keepFree }: Options): Promise<Cache> => {
  const items = store.collection('catalog-cache', CacheItem, { unique: { sha256: item => item.sha256 } })
  const placeOf = (sha256: string): string => join(folder, sha256)
  const inUse = new Map<string, number>()
  const counters = { hits: 0, misses: 0, evictions: 0 }
  let size = 0
  /** Bytes of what is being copied into it. */
  let coming = 0
  const turns = createKeyedMutex()

  const told = (what: string, item: CacheItem): Write => {
    const { manifest, size: cacheSize, cached_at } = item
    const { catalog_id, version, architecture } = manifest
    return publish({
      type: 'catalog_cache',
      message: `CACHE_ITEM_${what}`,
      body: { catalog_id, version, architecture, cache_size: cacheSize, cache_type: 'folder', cached_date: cached_at },
      audience: toldOf(inventory, item),
    })
  }
  const forget = (item: CacheItem & Stored): Promise<void> =>
    turns(item.sha256, async () => {
      // Somebody else wanted it gone too.
      if (!(await items.get(item.id))) return
      // Off the record first: what is left of it on disk is let go at the next start.
      await store.commit([items.remove({ id: item.id }), told('REMOVED', item)])
      size -= item.size
      await removeTree(folder, placeOf(item.sha256))
    })
  const using = async <T>(sha256: string, work: () => Promise<T>): Promise<T> => {
    inUse.set(sha256, (inUse.get(sha256) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = inUse.get(sha256)! - 1
      if (left === 0) inUse.delete(sha256)
      else inUse.set(sha256, left)
    }
  }
  const isFree = ({ sha256 }: CacheItem): boolean => !inUse.has(sha256)

  /** Lets go of what was not used the longest until there is room, and takes that; false when there is none even then. */
  const takeRoom = (bytes: number): Promise<boolean> =>
    // One after the other: the room that one has found is not another's.
    turns('room', async () => {
      if (bytes > budget) return false
      const candidates = (await items.list()).filter(isFree).toSorted(newestFirst)
      for (;;) {
        const { bavail, bsize } = await statfs(folder)
        if (size + coming + bytes <= budget && bavail * bsize - coming - bytes >= keepFree) {
          coming += bytes
          return true
        }
        const oldest = candidates.pop()
        if (!oldest) return false
        if (!isFree(oldest)) continue
        await forget(oldest)
        counters.evictions += 1
      }
    })

  await makePrivateFolder(folder)
  for (const item of await items.list())
    if (await exists(placeOf(item.sha256))) size += item.size
    else await store.commit([items.remove({ id: item.id })])
  for (const name of await readdir(folder))
    if (!(await items.find('sha256', name))) await removeTree(folder, join(folder, name))

  const shown = ({ manifest, ...item }: CacheItem): CachedManifest => ({
    ...manifest,
    cache_date: item.cached_at,
    cache_local_path: folder,
    cache_metadata_name: '',
    cache_file_name: item.sha256,
    cache_type: 'folder',
    cache_size: item.size,
    cache_used_count: item.used_count,
    cache_last_used: item.last_used_at,
  })
  const seenBy = async (caller: Principal): Promise<readonly (CacheItem & Stored)[]> =>
    (await items.list()).filter(knownTo(inventory, caller)).toSorted(newestFirst)

  return {
    counters,
    size: () => size,
    list: async caller => (await seenBy(caller)).map(shown),
    async remove(caller, { catalogId, version }) {
      const wanted = (await seenBy(caller)).filter(
        ({ manifest }) =>
          (catalogId === undefined || manifest.catalog_id.toLowerCase() === normalizeCatalogId(catalogId)) &&
          (version === undefined ||
            version.toUpperCase() === 'ALL' ||
            manifest.version.toLowerCase() === version.toLowerCase()),
      )
      if (wanted.length === 0 && catalogId !== undefined)
        throw new ServiceError(
          'not-found',
          `There is nothing cached of ${[catalogId, version].filter(Boolean).join(' ')}.`,
        )
      const free = wanted.filter(isFree)
      if (free.length < wanted.length && free.length === 0)
        throw new ServiceError('conflict', 'A pull is using this; try again when it has ended.')
      for (const item of free) if (isFree(item)) await forget(item)
      return free.length
    },
    restore: (caller, { sha256, catalog }, to, { signal, onProgress }) =>
      using(sha256, async () => {
        const found = await items.find('sha256', sha256)
        const isTold = catalog !== undefined && found?.catalog === catalog
        const item = found && (isTold || knownTo(inventory, caller)(found)) ? found : undefined
        const damaged =
          item &&
          (await copyVerified(item.files, placeOf(sha256), to, { signal, onProgress }).catch(unreadable(signal)))
        if (!item || damaged !== undefined) {
          counters.misses += 1
          if (item) await forget(item)
          for (const name of await readdir(to)) await removeTree(to, join(to, name))
          return undefined
        }
        counters.hits += 1
        await items.update(item.id, one => ({
          ...one,
          used_count: one.used_count + 1,
          last_used_at: new Date().toISOString(),
        }))
        return placeOf(sha256)
      }),
    keep: ({ sha256, manifest, catalog, owner }, files, from, { signal, onProgress }) =>
      using(sha256, async () => {
        const bytes = await sizeOnDisk(files, from)
        if (files.reduce((sum, { size }) => sum + size, 0) - bytes > mostHoles) return undefined
        if ((await items.find('sha256', sha256)) || !(await takeRoom(bytes))) return undefined
        const staging = join(folder, `.new-${crypto.randomUUID()}`)
        try {
          await makePrivateFolder(staging)
          if ((await copyVerified(files, from, staging, { signal, onProgress })) !== undefined) return undefined
          const now = new Date().toISOString()
          const item: CacheItem = {
            id: crypto.randomUUID(),
            sha256,
            manifest,
            ...(catalog !== undefined && { catalog }),
            ...(owner !== undefined && { owner }),
            files: [...files],
            size: await sizeOnDisk(files, staging),
            cached_at: now,
            last_used_at: now,
            used_count: 0,
          }
          // Another pull of the same pack may have been faster.
          if (await exists(placeOf(sha256))) return undefined
          await renameSynced(staging, placeOf(sha256))
          await store.commit([items.put(item), told('ADDED', item)]).catch(async (error: unknown) => {
            // What stays of it is let go at the next start.
            await removeTree(folder, placeOf(sha256)).catch(() => undefined)
            throw error
          })
          size += item.size
          return placeOf(sha256)
        } finally {
          coming -= bytes
          await removeTree(folder, staging)
        }
      }),
  }
}
