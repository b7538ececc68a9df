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
import { packPath, requireStorage } from './manifest-objects.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { Kept } from './view.ts'

/** Bytes of all indexes that are kept; the largest takes 22 MB. */
const budget = 256 * 1024 * 1024
/** Bytes that an entry takes beside its digests. */
const overhead = 1024
/** Indexes of one user that are read at once: each is large before only its digests are left of it. */
const mostAtOnce = 4
/** Milliseconds in which an index has to come: 64 MiB over a slow line. */
const limit = 10 * 60_000

/** Hands out what is kept of single chunks. */
export interface ChunkContents {
  /**
   * What is kept of a chunk that the list of this manifest names, to be read in parts. Throws `not-found` for any other,
   * whether or not the provider has it. `caller`: the id of the user who asks.
   */
  of(caller: string, manifest: Kept, sha256: string, signal: AbortSignal): Promise<RangeSource>
}

/** Where an index is read from, and which one it is. */
interface Origin {
  /** The storage with all that opens it. */
  readonly storage: string
  readonly provider: Provider
  readonly path: string
  readonly sha256: string
}

export const createChunkContents = ({
  storages,
  indexParser,
}: Pick<CatalogContext, 'storages' | 'indexParser'>): ChunkContents => {
  const kept = createByteCache<Uint8Array>(budget, digests => overhead + digests.length)
  const running = new Map<string, Promise<Uint8Array | undefined>>()
  // A storage that does not answer holds up what its user wants of it, and nothing else.
  const [ofStorage, ofCaller] = [createKeyedLimiter(1), createKeyedLimiter(mostAtOnce)]

  /** The digests of an index; undefined for a pack that is none. */
  const read = async ({ provider, path, sha256 }: Origin): Promise<Uint8Array | undefined> => {
    using limited = createTimeLimit(limit, `The chunk index ${path} did not come within ${limit / 60_000} minutes.`)
    const { signal } = limited
    // Also where the provider does not heed the signal.
    return abortable(readChunkDigests(provider, path, indexParser, { sha256, signal }), signal)
  }
  /** By its origin: a digest can be registered by anybody, also for a storage that never answers. */
  const digestsOf = async (caller: string, origin: Origin, signal: AbortSignal) => {
    const key = JSON.stringify([origin.storage, origin.path, origin.sha256])
    const begin = (): Promise<Uint8Array | undefined> => {
      const one = read(origin)
        .then(digests => {
          if (digests) kept.set(key, digests)
          return digests
        })
        .finally(() => running.delete(key))
      running.set(key, one)
      return one
    }
    const load = async (): Promise<Uint8Array | undefined> => {
      const underWay = running.get(key)
      return kept.get(key) ?? (underWay ? abortable(underWay, signal) : begin())
    }
    const inTurn = () => ofCaller.run(caller, load, signal)
    return kept.get(key) ?? abortable(ofStorage.run(JSON.stringify([caller, origin.storage]), inTurn, signal), signal)
  }

  return {
    async of(caller, manifest, sha256, signal) {
      const none = (): ServiceError => new ServiceError('not-found', `${manifest.name} has no chunk ${sha256}.`)
      const path = packPath(manifest)
      if (path === undefined || manifest.pack_sha256 === '') throw none()
      const storage = requireStorage(manifest)
      const provider = await storages.open(storage)
      const origin = { storage: JSON.stringify(storage), provider, path, sha256: manifest.pack_sha256 }
      const digests = await digestsOf(caller, origin, signal)
      if (!digests || !hasDigest(digests, sha256)) throw none()
      const at = getChunkPath(sha256)
      const found = await provider.stat(at, signal)
      if (!found) throw none()
      const { size } = found
      return { size, etag: `"${sha256}-${size}"`, read: range => provider.read(at, { range, signal }) }
    },
  }
}
