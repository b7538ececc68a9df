import type { Zeros } from '../sparse-file.ts'
import type { Chunk, Chunked } from '../chunks/chunk-index.ts'
import type { FetchChunk } from './stored-chunk.ts'

/** Parts of the list that are fetched ahead. */
const ahead = 4

/** The parts of a file in order, each with all that is in it. */
const partsOf = async function* (
  fetch: FetchChunk,
  { chunks }: Chunked,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array | Zeros> {
  const queue: (Promise<Buffer> | Zeros)[] = []
  const fetched = (chunk: Chunk): Promise<Buffer> => {
    const one = fetch(chunk, signal)
    // A failure is told when it is its turn, which may never come.
    one.catch(() => undefined)
    return one
  }
  const first = async (): Promise<Uint8Array | Zeros> => {
    signal.throwIfAborted()
    return queue.shift()!
  }
  for (const one of chunks) {
    queue.push('zeros' in one ? one : fetched(one))
    if (queue.length > ahead) yield await first()
  }
  while (queue.length > 0) yield await first()
}

/**
 * A file that is kept as chunks, in order: bytes, and runs of zeros, of which nothing is made. Each chunk is checked before
 * any of it is given out. Fails as `fetch` does where one is missing or broken; what is fetched ahead ends with the reading.
 */
export const readChunked = async function* (
  fetch: FetchChunk,
  list: Chunked,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array | Zeros> {
  const ended = new AbortController()
  try {
    yield* partsOf(fetch, list, signal ? AbortSignal.any([signal, ended.signal]) : ended.signal)
  } finally {
    ended.abort()
  }
}
