import { createHash } from 'node:crypto'

/** Bytes. `mean` is a power of two; for the same content to be cut in the same way all three must be the same. */
export interface ChunkSizes {
  readonly least: number
  readonly mean: number
  readonly most: number
}

/** One random number of 32 bits for each byte: the first of the byte's SHA-256. */
const gear = Int32Array.from({ length: 256 }, (_, byte) =>
  createHash('sha256').update(Uint8Array.of(byte)).digest().readInt32LE(),
)

/** As many ones, from the top: the upper bits of the hash know the most bytes. */
const topBits = (count: number): number => -1 << (32 - count)

/**
 * Cuts bytes into chunks where their content says so, by FastCDC (Xia and others, USENIX ATC 2016): a gear hash over the
 * last bytes, nothing hashed below the least size, and normalised chunking of level 2: a cut is four times less likely
 * than the mean before the mean size, and four times likelier after it. The hash has 32 bits, since more are slow in
 * JavaScript, so it knows the last 32 bytes.
 */
export const createCutter = ({ least, mean, most }: ChunkSizes) => {
  const bits = Math.log2(mean)
  const before = topBits(bits + 2)
  const after = topBits(bits - 2)
  /** The chunk that is not cut yet. */
  const chunk = Buffer.allocUnsafeSlow(most)
  let size = 0
  let hash = 0

  const take = (): Buffer<ArrayBuffer> => {
    const taken = Buffer.from(chunk.subarray(0, size))
    size = 0
    hash = 0
    return taken
  }

  /** Goes on with the hash; gives the place behind the byte where it says to cut, −1 where it does not until `to`. */
  const roll = (bytes: Uint8Array, from: number, to: number, mask: number): number => {
    let rolling = hash
    for (let at = from; at < to; at += 1) {
      rolling = ((rolling << 1) + gear[bytes[at]!]!) | 0
      if ((rolling & mask) === 0) return at + 1
    }
    hash = rolling
    return -1
  }

  /** Where the chunk ends that goes on with `bytes` at `from`; −1 when not in them. */
  const cut = (bytes: Uint8Array, from: number): number => {
    /** The place at which the chunk has that size. */
    const placeOf = (sized: number): number => Math.min(Math.max(from + sized - size, from), bytes.length)
    const [hashed, likelier, last] = [placeOf(least), placeOf(mean), placeOf(most)]
    let end = roll(bytes, hashed, likelier, before)
    if (end < 0) end = roll(bytes, likelier, last, after)
    return end < 0 && size + last - from === most ? last : end
  }

  return {
    /** The chunks that these bytes end. */
    *push(bytes: Uint8Array): Generator<Buffer<ArrayBuffer>> {
      let at = 0
      while (at < bytes.length) {
        const end = cut(bytes, at)
        const stop = end < 0 ? bytes.length : end
        chunk.set(bytes.subarray(at, stop), size)
        size += stop - at
        at = stop
        if (end >= 0) yield take()
      }
    },
    /** The last chunk, if there is one; what comes then is cut as if it was a file of its own. */
    *end(): Generator<Buffer<ArrayBuffer>> {
      if (size > 0) yield take()
    },
  }
}
