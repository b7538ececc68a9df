import type { Chunk, ChunkList } from './chunk-list.ts'
import type { FetchChunk } from './stored-chunk.ts'

/** Parts of the list that are fetched ahead. */
const ahead = 4

/** Bytes of zeros that are given out at once. */
const zeroStep = 1024 * 1024

const zeros = function* (count: number): Generator<Uint8Array> {
  for (let left = count; left > 0; left -= zeroStep) yield new Uint8Array(Math.min(left, zeroStep))
}

/** The parts of a file in order, each with all that is in it. */
const partsOf = async function* (
  fetch: FetchChunk,
  { chunks }: ChunkList,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const queue: (Promise<Buffer> | number)[] = []
  const fetched = (chunk: Chunk): Promise<Buffer> => {
    const one = fetch(chunk, signal)
    // A failure is told when it is its turn, which may never come.
    one.catch(() => undefined)
    return one
  }
  const first = async function* (): AsyncGenerator<Uint8Array> {
    const part = queue.shift()!
    signal.throwIfAborted()
    if (typeof part === 'number') yield* zeros(part)
    else yield await part
  }
  for (const one of chunks) {
    queue.push('zeros' in one ? one.zeros : fetched(one))
    if (queue.length > ahead) yield* first()
  }
  while (queue.length > 0) yield* first()
}

/**
 * The bytes of a file that is kept as chunks; each chunk is checked before any of it is given out. The stream fails as
 * `fetch` does where one is missing or broken.
 */
export const readChunked = (fetch: FetchChunk, list: ChunkList, signal?: AbortSignal): ReadableStream<Uint8Array> => {
  const ended = new AbortController()
  const parts = partsOf(fetch, list, signal ? AbortSignal.any([signal, ended.signal]) : ended.signal)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value } = await parts.next()
          if (value) controller.enqueue(value)
          else controller.close()
        } catch (error) {
          ended.abort()
          throw error
        }
      },
      cancel: () => ended.abort(),
    },
    { highWaterMark: 0 },
  )
}
