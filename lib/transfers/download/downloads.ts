import { abortable } from '#lib/async/abortable.ts'
import type { ProgressOptions } from '#lib/async/progress.ts'
import type { FetchChunk } from '#lib/packs/chunk-store/stored-chunk.ts'
import { type ChunkDownload, createLocalChunkFetcher, openChunkDownload } from './fetched-chunks.ts'
import type { PackSource } from './pack-source.ts'
import { openRangeDownload, type RangeDownload } from './range-download.ts'
import { createSingleFlight } from './single-flight.ts'
import type { WorkFolders } from '#lib/platform/work-folders.ts'

/** A share in the download of a pack. */
export interface PackLease extends AsyncDisposable {
  /** Returns the bytes of the pack in order, as they arrive. */
  stream(): ReadableStream<Uint8Array>
}

/** A share in the download of the chunks of a machine. */
export interface ChunkLease extends AsyncDisposable {
  readonly fetchChunk: FetchChunk
}

/**
 * The downloads of packs to this host. Callers that want the same pack share one download. When the last one disposes of its
 * lease, the download ends and its files are removed.
 */
export interface Downloads {
  leasePack(source: PackSource, options: ProgressOptions): Promise<PackLease>
  leaseChunks(source: PackSource, options: ProgressOptions): Promise<ChunkLease>
}

const readSize = 1024 * 1024

const createStream = (download: RangeDownload, signal: AbortSignal): ReadableStream<Uint8Array> => {
  let offset = 0
  return new ReadableStream(
    {
      async pull(controller) {
        signal.throwIfAborted()
        if (offset >= download.size) return controller.close()
        const end = await abortable(download.waitFor(offset), signal)
        const chunk = await download.read(offset, Math.min(readSize, end - offset))
        offset += chunk.length
        controller.enqueue(chunk)
      },
    },
    { highWaterMark: 2 },
  )
}

/** Reads a pack that is on a disk of this host. Nothing is stored, so there is nothing to share. */
const leaseLocalPack = async (source: PackSource, { signal, onProgress }: ProgressOptions): Promise<PackLease> => {
  const bytes = await source.read({ start: 0, end: source.size }, signal)
  let received = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received += chunk.byteLength
      onProgress(received)
      controller.enqueue(chunk)
    },
  })
  const stream = bytes.pipeThrough(counter)
  return {
    stream: () => stream,
    // A stream that somebody reads is locked. Its reader ends it, and it cannot be cancelled here.
    [Symbol.asyncDispose]: () => stream.cancel().catch(() => {}),
  }
}

/**
 * Returns the name of a download. Only callers of the same pack at the same origin share one, so that a bad origin cannot
 * harm those who read from another. Without a digest the name stands for a manifest as it is now.
 */
const getDownloadName = ({ origin, sha256, size, manifest }: PackSource): readonly string[] =>
  sha256 === undefined ? [origin, manifest.id, manifest.updated_at, String(size)] : [origin, sha256]

export const createDownloads = (folders: WorkFolders): Downloads => {
  const joinRangeDownload = createSingleFlight<RangeDownload>(folders)
  const joinChunkDownload = createSingleFlight<ChunkDownload>(folders)
  return {
    async leasePack(source, options) {
      if (source.isLocal) return leaseLocalPack(source, options)
      const lease = await joinRangeDownload(
        getDownloadName(source),
        (folder, shared) => openRangeDownload(source, folder, shared),
        options,
      )
      return {
        stream: () => createStream(lease.value, options.signal),
        [Symbol.asyncDispose]: lease[Symbol.asyncDispose],
      }
    },
    async leaseChunks(source, options) {
      if (source.isLocal)
        return { fetchChunk: createLocalChunkFetcher(source, options), async [Symbol.asyncDispose]() {} }
      const lease = await joinChunkDownload(
        ['chunks', ...getDownloadName(source)],
        (folder, shared) => openChunkDownload(source, folder, shared),
        options,
      )
      return { fetchChunk: lease.value.fetchChunk, [Symbol.asyncDispose]: lease[Symbol.asyncDispose] }
    },
  }
}
