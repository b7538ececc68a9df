import { createCutter } from './cutter.ts'
import type { ChunkSizes } from './cutter.ts'
import { createHoleFinder, type Segment } from '../hole-finder.ts'

/** The chunk sizes of disk images. With other sizes new chunks would share nothing with those that are stored already. */
export const imageChunkSizes: ChunkSizes = { min: 256 * 1024, average: 1024 * 1024, max: 4 * 1024 * 1024 }

/**
 * Splits a file into chunks and holes, in order. The same bytes give the same chunks, whatever parts they arrive in. A hole
 * is at least as large as the smallest chunk. Only a chunk before a hole or at the end of the file may be smaller than that.
 * Keeps one chunk in memory.
 */
export const splitIntoChunks = async function* (
  source: AsyncIterable<Uint8Array>,
  sizes: ChunkSizes = imageChunkSizes,
): AsyncGenerator<Segment<Buffer<ArrayBuffer>>> {
  const holeFinder = createHoleFinder(sizes.min)
  const cutter = createCutter(sizes)

  const cut = function* (segments: Iterable<Segment>): Generator<Segment<Buffer<ArrayBuffer>>> {
    for (const segment of segments) {
      const chunks = 'zeros' in segment ? cutter.end() : cutter.push(segment.data)
      for (const data of chunks) yield { data }
      if ('zeros' in segment) yield segment
    }
  }

  for await (const bytes of source) yield* cut(holeFinder.push(bytes))
  yield* cut(holeFinder.end())
  for (const data of cutter.end()) yield { data }
}
