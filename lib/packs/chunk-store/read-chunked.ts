import type { ZeroRun } from '../hole-finder.ts'
import type { Chunk, ChunkedContent } from '../chunks/chunk-index.ts'
import type { FetchChunk } from './stored-chunk.ts'

/** The number of chunks and runs of zeros to fetch ahead of the reader. */
const readAhead = 4

const readSegments = async function* (
  fetchChunk: FetchChunk,
  { chunks }: ChunkedContent,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array | ZeroRun> {
  const queue: (Promise<Buffer> | ZeroRun)[] = []
  const startFetch = (chunk: Chunk): Promise<Buffer> => {
    const data = fetchChunk(chunk, signal)
    // The reader gets a failure when it reaches this chunk, which may never happen.
    data.catch(() => undefined)
    return data
  }
  for (const entry of chunks) {
    queue.push('zeros' in entry ? entry : startFetch(entry))
    const first = queue.length > readAhead ? queue.shift() : undefined
    signal.throwIfAborted()
    if (first) yield await first
  }
  for (const rest of queue) {
    signal.throwIfAborted()
    yield await rest
  }
}

/**
 * Reads the content of a file that is stored as chunks: data, and runs of zeros, which take no memory. It gives out no part
 * of a chunk before the chunk is verified. Throws what `fetchChunk` throws when a chunk is missing or damaged. When the
 * caller stops reading, the fetches ahead end.
 */
export const readChunkedContent = async function* (
  fetchChunk: FetchChunk,
  content: ChunkedContent,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array | ZeroRun> {
  const ended = new AbortController()
  try {
    yield* readSegments(fetchChunk, content, signal ? AbortSignal.any([signal, ended.signal]) : ended.signal)
  } finally {
    ended.abort()
  }
}
