import { ServiceError } from '#lib/errors.ts'
import type { RangeSource } from '#lib/calls/range-reply.ts'
import { abortable } from '#lib/async/abortable.ts'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { createByteCache } from './byte-cache.ts'
import type { CatalogContext } from './changes.ts'
import { hasDigest } from '#lib/packs/chunks/compact-index.ts'
import { readChunkDigests } from '#lib/packs/chunk-store/index-object.ts'
import { getChunkPath } from '#lib/packs/chunk-store/stored-chunk.ts'
import { requireStorage, toPackPath } from './manifest-objects.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { ManifestRow } from './view.ts'

/** Bytes of all cached indexes. The largest possible index takes 22 MB. */
const maxCacheBytes = 256 * 1024 * 1024
/** Bytes that a cached index takes beside its digests. */
const entryOverhead = 1024
/** The most indexes that one user has loaded at the same time, because each is large until it is reduced to its digests. */
const maxConcurrentLoads = 4
/** Milliseconds that loading an index may take: 64 MiB over a slow line. */
const loadTimeout = 10 * 60_000

/** Opens single stored chunks of manifests. */
export interface ChunkReader {
  /**
   * Opens a stored chunk that the manifest's chunk index names. Throws `not-found` for any other chunk, also when the
   * provider has it. `caller` is the id of the user.
   */
  open(caller: string, manifest: ManifestRow, sha256: string, signal: AbortSignal): Promise<RangeSource>
}

/** A chunk index and the provider that has it. */
interface IndexOrigin {
  /** The storage as text, with its secrets. */
  readonly storage: string
  readonly provider: Provider
  readonly path: string
  readonly sha256: string
}

export const createChunkReader = ({
  storages,
  indexParser,
}: Pick<CatalogContext, 'storages' | 'indexParser'>): ChunkReader => {
  const cache = createByteCache<Uint8Array>(maxCacheBytes, digests => entryOverhead + digests.length)
  const loads = new Map<string, Promise<Uint8Array | undefined>>()
  // One load per user and storage, so that a storage that does not answer blocks only the requests to itself.
  const [storageLimiter, callerLimiter] = [createKeyedLimiter(1), createKeyedLimiter(maxConcurrentLoads)]

  /** Reads the digests of an index; undefined for an object that is not an index. */
  const readDigests = async ({ provider, path, sha256 }: IndexOrigin): Promise<Uint8Array | undefined> => {
    using timeLimit = createTimeLimit(
      loadTimeout,
      `The chunk index ${path} could not be read within ${loadTimeout / 60_000} minutes.`,
    )
    const { signal } = timeLimit
    // Abortable, because the provider may ignore the signal.
    return await abortable(readChunkDigests(provider, path, indexParser, { sha256, signal }), signal)
  }
  /**
   * Gives the digests of an index from the cache, or loads them once for all who wait. The cache key has the storage, because
   * anybody can register the same digest for a storage that never answers.
   */
  const loadDigests = async (caller: string, origin: IndexOrigin, signal: AbortSignal) => {
    const key = JSON.stringify([origin.storage, origin.path, origin.sha256])
    const startLoad = (): Promise<Uint8Array | undefined> => {
      const load = readDigests(origin)
        .then(digests => {
          if (digests) cache.set(key, digests)
          return digests
        })
        .finally(() => loads.delete(key))
      loads.set(key, load)
      return load
    }
    const joinLoad = async (): Promise<Uint8Array | undefined> => {
      const running = loads.get(key)
      return cache.get(key) ?? (running ? abortable(running, signal) : startLoad())
    }
    const joinWithinLimit = () => callerLimiter.run(caller, joinLoad, signal)
    const storageKey = JSON.stringify([caller, origin.storage])
    return cache.get(key) ?? abortable(storageLimiter.run(storageKey, joinWithinLimit, signal), signal)
  }

  return {
    async open(caller, manifest, sha256, signal) {
      const createNotFoundError = (): ServiceError =>
        new ServiceError('not-found', `${manifest.name} has no chunk ${sha256}.`)
      const packPath = toPackPath(manifest)
      if (packPath === undefined || manifest.pack_sha256 === '') throw createNotFoundError()
      const storage = requireStorage(manifest)
      const provider = await storages.open(storage)
      const origin = { storage: JSON.stringify(storage), provider, path: packPath, sha256: manifest.pack_sha256 }
      const digests = await loadDigests(caller, origin, signal)
      if (!digests || !hasDigest(digests, sha256)) throw createNotFoundError()
      const path = getChunkPath(sha256)
      const found = await provider.stat(path, signal)
      if (!found) throw createNotFoundError()
      const { size } = found
      return { size, etag: `"${sha256}-${size}"`, read: range => provider.read(path, { range, signal }) }
    },
  }
}
