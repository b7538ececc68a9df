import type { FetchChunk } from '#lib/packs/chunk-store/stored-chunk.ts'
import { type FetchedChunks, nearChunks, openChunks } from './fetched-chunks.ts'
import type { PackSource } from './pack-source.ts'
import { openPieces, type Pieces } from './ranges.ts'
import { createShares, type Following } from './single-flight.ts'
import type { WorkFolders } from './work-folder.ts'

/** The bytes of a pack from its begin to its end, as they come in. */
export interface Lease extends AsyncDisposable {
  stream(): ReadableStream<Uint8Array>
}

/** The chunks of a pack, which are right. */
export interface ChunkLease extends AsyncDisposable {
  readonly fetch: FetchChunk
}

/** Packs on their way to this host: who wants one that is on its way already joins. */
export interface Downloads {
  /** Disposing lets go; the last one out removes what was fetched. */
  lease(source: PackSource, how: Following): Promise<Lease>
  /** The same of a pack in chunks. */
  leaseChunks(source: PackSource, how: Following): Promise<ChunkLease>
}

const chunkSize = 1024 * 1024

const follow = (pieces: Pieces, signal: AbortSignal): ReadableStream<Uint8Array> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => {})
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  let at = 0
  return new ReadableStream(
    {
      async pull(controller) {
        signal.throwIfAborted()
        if (at >= pieces.size) return controller.close()
        const end = await Promise.race([pieces.reached(at), aborted])
        const chunk = await pieces.read(at, Math.min(chunkSize, end - at))
        at += chunk.length
        controller.enqueue(chunk)
      },
    },
    { highWaterMark: 2 },
  )
}

/** A pack that need not come: nothing is kept of it, and nobody shares the reading. */
const nearLease = async (source: PackSource, { signal, onProgress }: Following): Promise<Lease> => {
  const bytes = await source.read({ start: 0, end: source.size }, signal)
  let seen = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength
      onProgress(seen)
      controller.enqueue(chunk)
    },
  })
  const stream = bytes.pipeThrough(counted)
  return {
    stream: () => stream,
    // One that somebody reads is theirs to end, and cannot be cancelled here.
    [Symbol.asyncDispose]: () => stream.cancel().catch(() => {}),
  }
}

/**
 * The same pack from the same place has the same name: what one place does wrong is nothing to who reads from another.
 * Without a digest it is the one of a manifest as it is now.
 */
const nameOf = ({ origin, sha256, size, manifest }: PackSource): readonly string[] =>
  sha256 === undefined ? [origin, manifest.id, manifest.updated_at, String(size)] : [origin, sha256]

export const createDownloads = (folders: WorkFolders): Downloads => {
  const pieces = createShares<Pieces>(folders)
  const chunks = createShares<FetchedChunks>(folders)
  return {
    async lease(source, how) {
      if (source.near) return nearLease(source, how)
      const share = await pieces(nameOf(source), (folder, all) => openPieces(source, folder, all), how)
      return { stream: () => follow(share.of, how.signal), [Symbol.asyncDispose]: share[Symbol.asyncDispose] }
    },
    async leaseChunks(source, how) {
      if (source.near) return { fetch: nearChunks(source, how), async [Symbol.asyncDispose]() {} }
      const share = await chunks(['chunks', ...nameOf(source)], (folder, all) => openChunks(source, folder, all), how)
      return { fetch: share.of.fetch, [Symbol.asyncDispose]: share[Symbol.asyncDispose] }
    },
  }
}
