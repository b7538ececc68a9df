import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Chunk } from '../chunks/chunk-list.ts'
import { type FetchChunk, fetchFrom, missingChunk, unpackChunk } from '../chunks/stored-chunk.ts'
import type { PackSource } from './pack-source.ts'
import { retried } from './retried.ts'
import type { Following } from './shares.ts'

/** Chunks that are kept in a folder as they come. */
export interface FetchedChunks {
  readonly fetch: FetchChunk
  /** Settles when nothing is fetched any more. */
  close(): Promise<void>
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

/** The sooner of what comes and the end of the signal. */
const orAborted = <T>(signal: AbortSignal, coming: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    coming.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })

/** Fetches chunks into a folder as they are asked for; those that an earlier try has left there are taken, when right. */
export const openChunks = async (
  source: PackSource,
  folder: string,
  { signal, onProgress }: Following,
): Promise<FetchedChunks> => {
  const count = createCount(onProgress)
  const coming = new Map<string, Promise<Buffer<ArrayBuffer>>>()

  const load = async (chunk: Chunk): Promise<Buffer<ArrayBuffer>> => {
    const file = join(folder, chunk.sha256)
    const kept = await readFile(file).catch(() => undefined)
    const known = kept && (await unpackChunk(chunk, kept).catch(() => undefined))
    if (known) {
      count(chunk, kept.length)
      return known
    }
    return retried(signal, async () => {
      const stored = await source.stored(chunk, signal)
      const data = await unpackChunk(chunk, stored)
      await writeFile(`${file}.part`, stored)
      await rename(`${file}.part`, file)
      count(chunk, stored.length)
      return data
    }).catch(missingChunk(chunk))
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
    fetch: (chunk, until) => orAborted(until, shared(chunk)),
    async close() {
      await Promise.allSettled(coming.values())
    },
  }
}
