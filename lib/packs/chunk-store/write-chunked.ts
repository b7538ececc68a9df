import { isFault } from '#lib/errors.ts'
import { TransientError, withRetry } from '#lib/async/retry.ts'
import type { Provider, Source } from '#lib/objects/port/provider.ts'
import type { IndexEntry, ListedContent } from '../chunks/chunk-index.ts'
import { splitIntoChunks } from '../chunks/chunker.ts'
import type { RepositoryLock } from './repository-lock.ts'
import { forEachConcurrent } from '#lib/async/for-each-concurrent.ts'
import { compressChunk, computeSha256, getChunkPath } from './stored-chunk.ts'

export interface WrittenContent {
  readonly content: ListedContent
  /** The number of chunks that the provider did not have, and their bytes as sent. */
  readonly sentChunks: number
  readonly sentBytes: number
  /** The bytes that each chunk takes on the provider, by the SHA-256 of the chunk. */
  readonly storedSizes: ReadonlyMap<string, number>
}

interface WriteChunkedOptions {
  readonly signal?: AbortSignal
  /** Called with the number of bytes of the file that have been read. */
  readonly onProgress?: (bytes: number) => void
}

/** Chunks that are hashed, compressed and sent at the same time. */
const concurrency = 4

const createSource = (bytes: Buffer<ArrayBuffer>): Source => ({
  size: bytes.length,
  read: ({ start, end }) => new Blob([bytes.subarray(start, end)]).stream(),
})

interface SentChunk {
  /** Bytes that were sent: none when somebody else has sent the same chunk at the same time. */
  readonly sentSize: number
  /** Bytes that the chunk takes on the provider. */
  readonly storedSize: number
}

const sendChunk = async (
  provider: Provider,
  sha256: string,
  data: Buffer<ArrayBuffer>,
  signal?: AbortSignal,
): Promise<SentChunk> => {
  const path = getChunkPath(sha256)
  const stored = await compressChunk(data)
  const options = { sha256: stored === data ? sha256 : await computeSha256(stored), ...(signal && { signal }) }
  const send = async (): Promise<SentChunk> => {
    try {
      await provider.write(path, createSource(stored), options)
      return { sentSize: stored.length, storedSize: stored.length }
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error
      const existing = await provider.stat(path, signal)
      if (existing) return { sentSize: 0, storedSize: existing.size }
      throw error
    }
  }
  // A conflict means that somebody else is writing the same chunk.
  return withRetry(send, signal, error => isFault(error, 'conflict') || error instanceof TransientError)
}

/**
 * Splits a file into chunks and sends those that the provider does not have. The caller acquires a shared `lock` before,
 * renews it just before the index becomes visible, and releases it after that. Chunks that a failed call has sent stay, so
 * the next call does not send them again.
 */
export const writeChunkedContent = async (
  provider: Provider,
  lock: RepositoryLock,
  source: AsyncIterable<Uint8Array>,
  { signal, onProgress }: WriteChunkedOptions = {},
): Promise<WrittenContent> => {
  const entries: IndexEntry[] = []
  const storedSizes = new Map<string, number>()
  let size = 0
  let sentChunks = 0
  let sentBytes = 0

  /** Gives the chunks with their positions in the index, and puts the holes into the index. */
  const readChunks = async function* (): AsyncGenerator<{ at: number; data: Buffer<ArrayBuffer> }> {
    let at = 0
    for await (const segment of splitIntoChunks(source)) {
      signal?.throwIfAborted()
      await lock.renew()
      if ('zeros' in segment) entries[at] = segment
      else yield { at, data: segment.data }
      at += 1
      size += 'zeros' in segment ? segment.zeros : segment.data.length
      onProgress?.(size)
    }
  }

  await forEachConcurrent(readChunks(), concurrency, async ({ at, data }) => {
    const sha256 = await computeSha256(data)
    entries[at] = { sha256, size: data.length }
    if (storedSizes.has(sha256)) return
    storedSizes.set(sha256, 0)
    const existing = await provider.stat(getChunkPath(sha256), signal)
    // An object that is larger than the chunk cannot be the chunk.
    if (existing && existing.size <= data.length) {
      storedSizes.set(sha256, existing.size)
      return
    }
    const sent = await sendChunk(provider, sha256, data, signal)
    storedSizes.set(sha256, sent.storedSize)
    sentBytes += sent.sentSize
    if (sent.sentSize > 0) sentChunks += 1
  })
  await lock.renew()
  return { content: { size, chunks: entries }, sentChunks, sentBytes, storedSizes }
}
