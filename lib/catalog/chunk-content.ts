import { ServiceError } from '#lib/errors.ts'
import type { Content } from '#lib/http/content.ts'
import { createAtOnce } from './at-once.ts'
import { chunksOf } from './chunks/chunk-list.ts'
import { isListPath, readListObject } from './chunks/list-object.ts'
import { chunkPath } from './chunks/stored-chunk.ts'
import { packPath, requireStorage } from './objects.ts'
import type { Provider } from './providers/provider.ts'
import type { Kept } from './shown.ts'
import type { Storages } from './storages.ts'

/** Chunks that all lists together name that are kept, of which the newest may have more: about 150 bytes for each. */
const most = 500_000

/** Hands out what is kept of single chunks. */
export interface ChunkContents {
  /**
   * What is kept of a chunk that the list of this manifest names, to be read in parts. Throws `not-found` for any other,
   * whether or not the provider has it. `caller`: the id of the user who asks; they read one list after the other.
   */
  of(caller: string, manifest: Kept, sha256: string, signal: AbortSignal): Promise<Content>
}

export const createChunkContents = (storages: Storages): ChunkContents => {
  /** What lists name, by their own SHA-256; the one that was asked for last comes last. */
  const lists = new Map<string, Promise<ReadonlySet<string>>>()
  const sizes = new Map<string, number>()
  // A list is large before only its names are left of it.
  const atOnce = createAtOnce(1)

  const read = async (provider: Provider, path: string, sha256: string): Promise<ReadonlySet<string>> => {
    const names = new Set(chunksOf(await readListObject(provider, path, { sha256 })).keys())
    sizes.set(sha256, names.size)
    return names
  }
  const makeRoom = (): void => {
    for (const oldest of [...lists.keys()].slice(0, -1)) {
      if (sizes.values().reduce((sum, size) => sum + size, 0) <= most) return
      lists.delete(oldest)
      sizes.delete(oldest)
    }
  }
  const namesOf = async (caller: string, provider: Provider, { pack_sha256: sha256 }: Kept, path: string) => {
    const known = lists.get(sha256) ?? atOnce.do(caller, () => read(provider, path, sha256))
    lists.delete(sha256)
    lists.set(sha256, known)
    try {
      const names = await known
      makeRoom()
      return names
    } catch (error) {
      lists.delete(sha256)
      throw error
    }
  }

  return {
    async of(caller, manifest, sha256, signal) {
      const none = (): ServiceError => new ServiceError('not-found', `${manifest.name} has no chunk ${sha256}.`)
      const path = packPath(manifest)
      if (path === undefined || !isListPath(path) || manifest.pack_sha256 === '') throw none()
      const provider = await storages.open(requireStorage(manifest))
      if (!(await namesOf(caller, provider, manifest, path)).has(sha256)) throw none()
      const at = chunkPath(sha256)
      const found = await provider.stat(at, signal)
      if (!found) throw none()
      const { size } = found
      return { size, etag: `"${sha256}-${size}"`, read: range => provider.read(at, { range, signal }) }
    },
  }
}
