import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { abortable } from '#lib/async/abortable.ts'
import type { ProgressOptions } from '#lib/async/progress.ts'
import { readBounded } from '#lib/platform/bounded-file.ts'
import type { Chunk } from '#lib/packs/chunks/chunk-index.ts'
import {
  createChunkFetcher,
  decompressChunk,
  type FetchChunk,
  toChunkError,
} from '#lib/packs/chunk-store/stored-chunk.ts'
import { isOutage, withRetry } from '#lib/async/retry.ts'
import type { PackSource } from './pack-source.ts'

/** A download that keeps the fetched chunks in a folder. */
export interface ChunkDownload {
  readonly fetchChunk: FetchChunk
  /**
   * Settles when no fetch is running any more. Returns whether an outage has interrupted the download, so that a later try can
   * continue it.
   */
  close(): Promise<boolean>
}

/** Creates a function that adds up the bytes of chunks, each counted once, and reports the sum. */
const createByteCounter = (onProgress: (bytes: number) => void): ((chunk: Chunk, bytes: number) => void) => {
  const counted = new Set<string>()
  let total = 0
  return ({ sha256 }, bytes) => {
    if (counted.has(sha256)) return
    counted.add(sha256)
    total += bytes
    onProgress(total)
  }
}

/** Creates a fetcher of chunks that are on a disk of this host. It keeps no copies of them. */
export const createLocalChunkFetcher = (source: PackSource, { onProgress }: ProgressOptions): FetchChunk => {
  const count = createByteCounter(onProgress)
  return createChunkFetcher(async (chunk, signal) => {
    const stored = await source.readStoredChunk(chunk, signal)
    count(chunk, stored.length)
    return stored
  })
}

/** Opens a download of chunks into a folder. It uses the valid chunks that an earlier try has left there. */
export const openChunkDownload = async (
  source: PackSource,
  folder: string,
  { signal, onProgress }: ProgressOptions,
): Promise<ChunkDownload> => {
  const count = createByteCounter(onProgress)
  const running = new Map<string, Promise<Buffer<ArrayBuffer>>>()
  let isInterrupted = false

  const loadChunk = async (chunk: Chunk): Promise<Buffer<ArrayBuffer>> => {
    const file = join(folder, chunk.sha256)
    // A chunk is stored in at most as many bytes as it has.
    const earlier = await readBounded(file, chunk.size).catch(() => undefined)
    const earlierData = earlier && (await decompressChunk(chunk, earlier).catch(() => undefined))
    if (earlierData) {
      count(chunk, earlier.length)
      return earlierData
    }
    const fetchOnce = async (): Promise<Buffer<ArrayBuffer>> => {
      const stored = await source.readStoredChunk(chunk, signal)
      const data = await decompressChunk(chunk, stored)
      await writeFile(`${file}.part`, stored)
      await rename(`${file}.part`, file)
      count(chunk, stored.length)
      return data
    }
    return withRetry(fetchOnce, signal, isOutage).catch((error: unknown) => {
      isInterrupted ||= !signal.aborted && isOutage(error)
      throw toChunkError(chunk, error)
    })
  }
  const shareLoad = (chunk: Chunk): Promise<Buffer<ArrayBuffer>> => {
    const current = running.get(chunk.sha256)
    if (current) return current
    const load = loadChunk(chunk).finally(() => running.delete(chunk.sha256))
    running.set(chunk.sha256, load)
    return load
  }
  return {
    // A caller that aborts leaves the load to the others that share it.
    fetchChunk: (chunk, callerSignal) => abortable(shareLoad(chunk), callerSignal),
    async close() {
      await Promise.allSettled(running.values())
      return isInterrupted
    },
  }
}
