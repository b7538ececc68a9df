import { isFault } from '#lib/errors.ts'
import { TransientError, withRetry } from '#lib/async/retry.ts'
import type { Provider, Source } from '#lib/objects/port/provider.ts'
import type { ChunkList } from '../chunks/chunk-index.ts'
import { chunker } from '../chunks/chunker.ts'
import type { Hold } from './repository-lock.ts'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import { chunkPath, packChunk, sha256Of } from './stored-chunk.ts'

export interface Written {
  readonly list: ChunkList
  /** Chunks that were not there, and their bytes as sent. */
  readonly sentChunks: number
  readonly sentBytes: number
  /** Each chunk of the file by its SHA-256, with the bytes it takes on the provider. */
  readonly stored: ReadonlyMap<string, number>
}

interface Options {
  readonly signal?: AbortSignal
  /** Is told how many bytes of the file have been read. */
  readonly onProgress?: (bytes: number) => void
}

/** Chunks that are hashed, packed and sent at once. */
const lanes = 4

const sourceOf = (bytes: Buffer<ArrayBuffer>): Source => ({
  size: bytes.length,
  read: ({ start, end }) => new Blob([bytes.subarray(start, end)]).stream(),
})

/** Sends a chunk and gives the bytes it has there; another who sends the same at this moment is waited for. */
const send = async (
  provider: Provider,
  sha256: string,
  data: Buffer<ArrayBuffer>,
  signal?: AbortSignal,
): Promise<{ readonly sent: number; readonly stored: number }> => {
  const path = chunkPath(sha256)
  const packed = await packChunk(data)
  const options = { sha256: packed === data ? sha256 : await sha256Of(packed), ...(signal && { signal }) }
  const attempt = async (): Promise<{ readonly sent: number; readonly stored: number }> => {
    try {
      await provider.write(path, sourceOf(packed), options)
      return { sent: packed.length, stored: packed.length }
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error
      const there = await provider.stat(path, signal)
      if (there) return { sent: 0, stored: there.size }
      throw error
    }
  }
  return withRetry(attempt, signal, error => isFault(error, 'conflict') || error instanceof TransientError)
}

/**
 * Keeps a file as chunks and sends those that are not there yet. `hold` is of the purpose `write`: it must be taken
 * before, renewed just before the list is made known to those who collect garbage, and end after that. What a write that
 * failed has sent stays, and is not sent again.
 */
export const writeChunked = async (
  provider: Provider,
  hold: Hold,
  source: AsyncIterable<Uint8Array>,
  { signal, onProgress }: Options = {},
): Promise<Written> => {
  const chunks: ChunkList['chunks'][number][] = []
  const stored = new Map<string, number>()
  let size = 0
  let sentChunks = 0
  let sentBytes = 0

  /** The chunks with their places in the list; holes go into it on the way. */
  const chunksOf = async function* (): AsyncGenerator<{ at: number; data: Buffer<ArrayBuffer> }> {
    let at = 0
    for await (const part of chunker(source)) {
      signal?.throwIfAborted()
      await hold.renew()
      if ('zeros' in part) chunks[at] = part
      else yield { at, data: part.data }
      at += 1
      size += 'zeros' in part ? part.zeros : part.data.length
      onProgress?.(size)
    }
  }

  await forEachConcurrent(chunksOf(), lanes, async ({ at, data }) => {
    const sha256 = await sha256Of(data)
    chunks[at] = { sha256, size: data.length }
    if (stored.has(sha256)) return
    stored.set(sha256, 0)
    const found = await provider.stat(chunkPath(sha256), signal)
    // What is larger than the chunk cannot be it.
    if (found && found.size <= data.length) {
      stored.set(sha256, found.size)
      return
    }
    const done = await send(provider, sha256, data, signal)
    stored.set(sha256, done.stored)
    sentBytes += done.sent
    if (done.sent > 0) sentChunks += 1
  })
  await hold.renew()
  return { list: { size, chunks }, sentChunks, sentBytes, stored }
}
