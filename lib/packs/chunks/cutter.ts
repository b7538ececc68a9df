import { createHash } from 'node:crypto'

/** Sizes in bytes; `average` is a power of two. The same content is cut in the same way only with the same three sizes. */
export interface ChunkSizes {
  readonly min: number
  readonly average: number
  readonly max: number
}

/** A random number of 32 bits for each value of a byte: the first bits of its SHA-256. */
const gear = Int32Array.from({ length: 256 }, (_, byte) =>
  createHash('sha256').update(Uint8Array.of(byte)).digest().readInt32LE(),
)

/** Creates a mask of the `count` highest bits. Those depend on the most bytes. */
const createTopMask = (count: number): number => -1 << (32 - count)

/**
 * Cuts bytes into chunks at positions that depend on their content, by FastCDC (Xia and others, USENIX ATC 2016): a gear hash
 * over the last bytes, no hash below the minimum size, and normalized chunking of level 2, which makes a cut four times less
 * likely before the average size and four times more likely after it. The hash has 32 bits, because more are slow in
 * JavaScript, so it covers the last 32 bytes.
 */
export const createCutter = ({ min, average, max }: ChunkSizes) => {
  const bits = Math.log2(average)
  const strictMask = createTopMask(bits + 2)
  const looseMask = createTopMask(bits - 2)
  /** The bytes since the last cut. */
  const chunk = Buffer.allocUnsafeSlow(max)
  let size = 0
  let hash = 0

  const takeChunk = (): Buffer<ArrayBuffer> => {
    const taken = Buffer.from(chunk.subarray(0, size))
    size = 0
    hash = 0
    return taken
  }

  /** Continues the hash up to `to`. Returns the position after the byte at which it matches the mask, or −1. */
  const findMatch = (bytes: Uint8Array, from: number, to: number, mask: number): number => {
    let rolling = hash
    for (let at = from; at < to; at += 1) {
      // The range is inside of the bytes, and there is a gear for each byte.
      rolling = ((rolling << 1) + gear[bytes[at]!]!) | 0
      if ((rolling & mask) === 0) return at + 1
    }
    hash = rolling
    return -1
  }

  /** Returns where the chunk that continues with `bytes` at `from` ends, or −1 when it goes on after them. */
  const findChunkEnd = (bytes: Uint8Array, from: number): number => {
    /** Returns the position at which the chunk has the given size. */
    const toPosition = (chunkSize: number): number => Math.min(Math.max(from + chunkSize - size, from), bytes.length)
    const [minEnd, averageEnd, maxEnd] = [toPosition(min), toPosition(average), toPosition(max)]
    let end = findMatch(bytes, minEnd, averageEnd, strictMask)
    if (end < 0) end = findMatch(bytes, averageEnd, maxEnd, looseMask)
    return end < 0 && size + maxEnd - from === max ? maxEnd : end
  }

  return {
    /** Adds bytes and gives the chunks that end in them. */
    *push(bytes: Uint8Array): Generator<Buffer<ArrayBuffer>> {
      let at = 0
      while (at < bytes.length) {
        const end = findChunkEnd(bytes, at)
        const stop = end < 0 ? bytes.length : end
        chunk.set(bytes.subarray(at, stop), size)
        size += stop - at
        at = stop
        if (end >= 0) yield takeChunk()
      }
    },
    /** Gives the last chunk, if there is one. Later bytes are cut as if they were a file of their own. */
    *end(): Generator<Buffer<ArrayBuffer>> {
      if (size > 0) yield takeChunk()
    },
  }
}
