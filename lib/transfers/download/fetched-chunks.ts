import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { abortable } from '#lib/async/abortable.ts'
import type { Chunk } from '#lib/packs/chunks/chunk-index.ts'
import { type FetchChunk, fetchFrom, missingChunk, unpackChunk } from '#lib/packs/chunk-store/stored-chunk.ts'
import { isOutage, withRetry } from '#lib/async/retry.ts'
import type { PackSource } from './pack-source.ts'
import type { Following } from './single-flight.ts'

/** Chunks that are kept in a folder as they come. */
export interface FetchedChunks {
  readonly fetch: FetchChunk
  /** Settles when nothing is fetched any more. Gives whether an outage has cut it off, so that a later try may go on. */
  close(): Promise<boolean>
}

/** Tells the bytes of all chunks so far, each counted once. */
const createCount = (onProgress: (bytes: number) => void): ((chunk: Chunk, bytes: number) => void) => {
  const seen = new Set<string>()
  let all = 0
  return ({ sha256 }, bytes) => {
    if (seen.has(sha256)) return
    seen.add(sha256)
    all += bytes
    onProgress(all)
  }
}

/** The chunks of a pack on a disk of this host: nothing is kept of them. */
export const nearChunks = (source: PackSource, { onProgress }: Following): FetchChunk => {
  const count = createCount(onProgress)
  return fetchFrom(async (chunk, signal) => {
    const stored = await source.stored(chunk, signal)
    count(chunk, stored.length)
    return stored
  })
}

/** Fetches chunks into a folder as they are asked for; those that an earlier try has left there are taken, when right. */
export const openChunks = async (
  source: PackSource,
  folder: string,
  { signal, onProgress }: Following,
): Promise<FetchedChunks> => {
  const count = createCount(onProgress)
  const coming = new Map<string, Promise<Buffer<ArrayBuffer>>>()
  let isCutOff = false

  const load = async (chunk: Chunk): Promise<Buffer<ArrayBuffer>> => {
    const file = join(folder, chunk.sha256)
    const kept = await readFile(file).catch(() => undefined)
    const known = kept && (await unpackChunk(chunk, kept).catch(() => undefined))
    if (known) {
      count(chunk, kept.length)
      return known
    }
    const fetchOnce = async (): Promise<Buffer<ArrayBuffer>> => {
      const stored = await source.stored(chunk, signal)
      const data = await unpackChunk(chunk, stored)
      await writeFile(`${file}.part`, stored)
      await rename(`${file}.part`, file)
      count(chunk, stored.length)
      return data
    }
    return withRetry(fetchOnce, signal, isOutage).catch((error: unknown) => {
      isCutOff ||= !signal.aborted && isOutage(error)
      return missingChunk(chunk)(error)
    })
  }
  const shared = (chunk: Chunk): Promise<Buffer<ArrayBuffer>> => {
    const known = coming.get(chunk.sha256)
    if (known) return known
    const one = load(chunk).finally(() => coming.delete(chunk.sha256))
    coming.set(chunk.sha256, one)
    return one
  }
  return {
    // What one of those who share does not want any more another may.
    fetch: (chunk, until) => abortable(shared(chunk), until),
    async close() {
      await Promise.allSettled(coming.values())
      return isCutOff
    },
  }
}
