import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '#lib/access/principal.ts'
import type { ProgressOptions } from '#lib/async/progress.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { exists, isDiskFull, makePrivateFolder, removeTree } from '#lib/platform/files.ts'
import { normalizeCatalogId } from '#lib/catalog/identifiers.ts'
import type { UnpackedFile } from '#lib/packs/unpacker.ts'
import { createItemVisibilityCheck } from './audience.ts'
import { type CacheStorageOptions, openCacheStorage, type StoredItem } from './cache-storage.ts'
import { copyVerified, measureSizeOnDisk } from './copy-verified.ts'
import { type CachedManifest, type CacheItem, toCachedManifest } from './cached-manifest.ts'

/** Selects items of the cache. Members that are left out select all. */
export interface CacheSelection {
  readonly catalogId?: string | undefined
  /** `ALL` selects every version. */
  readonly version?: string | undefined
}

/** Machines that were pulled, unpacked for the next pull of the same pack. */
export interface Cache {
  /** Lists the items that the caller may see, the most recently used one first. */
  list(caller: Principal): Promise<readonly CachedManifest[]>
  /** Removes items that the caller may see, and returns how many. Throws `not-found`, and `conflict` when all are in use. */
  remove(caller: Principal, selection: CacheSelection): Promise<number>
  /**
   * Copies a machine into an empty folder and verifies it. Returns the folder of the machine in the cache. Returns undefined
   * when the cache does not have the machine, when it is damaged, or when the caller may not have it. A caller who only knows
   * the digest of a pack may not have it; a caller who has the digest from the same catalog may. Throws `no-space`.
   */
  restore(
    caller: Principal,
    pack: { readonly sha256: string; readonly catalog?: string | undefined },
    folder: string,
    options: ProgressOptions,
  ): Promise<string | undefined>
  /** Copies an unpacked machine into the cache, if there is space. Returns its folder in the cache. */
  keep(
    pack: Pick<CacheItem, 'sha256' | 'manifest' | 'catalog' | 'owner'>,
    files: readonly UnpackedFile[],
    folder: string,
    options: ProgressOptions,
  ): Promise<string | undefined>
  readonly counters: Readonly<Record<'hits' | 'misses' | 'evictions', number>>
  /** Returns the bytes on disk. */
  size(): number
}

/** Maximum bytes of holes. Verifying a copy reads them too, and a machine with more is fetched again in less time. */
const maxHoleSize = 2 ** 40

/** Returns the reason why a machine in the cache could not be read. Throws an abort, and `no-space` for a full disk. */
const explainReadError = (error: unknown, signal: AbortSignal): string => {
  signal.throwIfAborted()
  if (!isDiskFull(error)) return messageOf(error)
  throw new ServiceError('no-space', 'There is not enough space on the disk for the machine. Make room, and try again.')
}

const matchesSelection = ({ manifest }: CacheItem, { catalogId, version }: CacheSelection): boolean =>
  (catalogId === undefined || manifest.catalog_id.toLowerCase() === normalizeCatalogId(catalogId)) &&
  (version === undefined || version.toUpperCase() === 'ALL' || manifest.version.toLowerCase() === version.toLowerCase())

export const openCache = async (options: CacheStorageOptions): Promise<Cache> => {
  const { inventory, folder } = options
  const counters = { hits: 0, misses: 0, evictions: 0 }
  const storage = await openCacheStorage(options, () => {
    counters.evictions += 1
  })
  const listVisible = async (caller: Principal): Promise<readonly StoredItem[]> =>
    (await storage.list()).filter(createItemVisibilityCheck(inventory, caller))

  return {
    counters,
    size: storage.getSize,
    list: async caller => (await listVisible(caller)).map(item => toCachedManifest(item, folder)),
    async remove(caller, selection) {
      const { catalogId, version } = selection
      const selected = (await listVisible(caller)).filter(item => matchesSelection(item, selection))
      if (selected.length === 0 && catalogId !== undefined)
        throw new ServiceError(
          'not-found',
          `The cache has nothing of ${[catalogId, version].filter(Boolean).join(' ')}.`,
        )
      const free = selected.filter(storage.isFree)
      if (free.length < selected.length && free.length === 0)
        throw new ServiceError('conflict', 'A pull is using this machine. Try again when the pull has ended.')
      for (const item of free) if (storage.isFree(item)) await storage.remove(item)
      return free.length
    },
    restore: (caller, { sha256, catalog }, target, { signal, onProgress }) =>
      storage.use(sha256, async () => {
        const found = await storage.find(sha256)
        const isOfSameCatalog = catalog !== undefined && found?.catalog === catalog
        const item =
          found && (isOfSameCatalog || createItemVisibilityCheck(inventory, caller)(found)) ? found : undefined
        const path = storage.getPath(sha256)
        const damage =
          item &&
          (await copyVerified(item.files, path, target, { signal, onProgress }).catch((error: unknown) =>
            explainReadError(error, signal),
          ))
        if (!item || damage !== undefined) {
          counters.misses += 1
          if (item) await storage.remove(item)
          for (const name of await readdir(target)) await removeTree(target, join(target, name))
          return undefined
        }
        counters.hits += 1
        await storage.recordUse(item)
        return path
      }),
    keep: ({ sha256, manifest, catalog, owner }, files, source, { signal, onProgress }) =>
      storage.use(sha256, async () => {
        const bytes = await measureSizeOnDisk(files, source)
        if (files.reduce((sum, { size }) => sum + size, 0) - bytes > maxHoleSize) return undefined
        if (await storage.find(sha256)) return undefined
        using reservation = await storage.reserve(bytes)
        if (!reservation) return undefined
        const staging = join(folder, `.new-${crypto.randomUUID()}`)
        try {
          await makePrivateFolder(staging)
          if ((await copyVerified(files, source, staging, { signal, onProgress })) !== undefined) return undefined
          const now = new Date().toISOString()
          const item: CacheItem = {
            id: crypto.randomUUID(),
            sha256,
            manifest,
            ...(catalog !== undefined && { catalog }),
            ...(owner !== undefined && { owner }),
            files: [...files],
            size: await measureSizeOnDisk(files, staging),
            cached_at: now,
            last_used_at: now,
            used_count: 0,
          }
          // Another pull of the same pack may have been faster.
          if (await exists(storage.getPath(sha256))) return undefined
          await storage.add(item, staging)
          return storage.getPath(sha256)
        } finally {
          await removeTree(folder, staging)
        }
      }),
  }
}
