import { createCutter } from './cutter.ts'
import type { ChunkSizes } from './cutter.ts'
import { createHoleFinder } from './hole-finder.ts'
import type { Part } from './hole-finder.ts'

/** Of the chunks of disk images. Others would be cut elsewhere, and share nothing with what is there already. */
export const imageSizes: ChunkSizes = { least: 256 * 1024, mean: 1024 * 1024, most: 4 * 1024 * 1024 }

/**
 * The chunks and holes of a file in order, the same for the same bytes however they come. A hole is as large as the
 * smallest chunk or larger; only before a hole or the end of the file a chunk may be smaller than that. Holds one chunk.
 */
export const chunker = async function* (
  source: AsyncIterable<Uint8Array>,
  sizes: ChunkSizes = imageSizes,
): AsyncGenerator<Part<Buffer<ArrayBuffer>>> {
  const holes = createHoleFinder(sizes.least)
  const cutter = createCutter(sizes)

  const cut = function* (parts: Iterable<Part>): Generator<Part<Buffer<ArrayBuffer>>> {
    for (const part of parts) {
      const chunks = 'zeros' in part ? cutter.end() : cutter.push(part.data)
      for (const data of chunks) yield { data }
      if ('zeros' in part) yield part
    }
  }

  for await (const bytes of source) yield* cut(holes.push(bytes))
  yield* cut(holes.end())
  for (const data of cutter.end()) yield { data }
}
