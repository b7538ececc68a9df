/** A run of zeros in a content. Nobody has to store it. */
export interface ZeroRun {
  readonly zeros: number
}

/** A part of a file: data, or a run of zeros. */
export type Segment<Data extends Uint8Array = Uint8Array> = { readonly data: Data } | ZeroRun

/** Bytes of one comparison. */
const blockSize = 64 * 1024
const zeroBlock = Buffer.alloc(blockSize)

/** Returns where the zeros that begin at `at` end. */
const findZerosEnd = (bytes: Uint8Array, at: number): number => {
  let end = at
  while (bytes[end] === 0) {
    if (end + blockSize <= bytes.length && zeroBlock.compare(bytes, end, end + blockSize) === 0) end += blockSize
    else end += 1
  }
  return end
}

/**
 * Returns where the first run of at least `minSize` zeros begins. A shorter run at the end counts too, because the next bytes
 * can make it longer.
 */
const findDataEnd = (bytes: Uint8Array, at: number, minSize: number): number => {
  let from = at
  while (from < bytes.length) {
    // A run that is long enough and begins before this position covers it, so most bytes need no look.
    const probe = Math.min(from + minSize, bytes.length) - 1
    if (bytes[probe] === 0) {
      let start = probe
      while (start > from && bytes[start - 1] === 0) start -= 1
      const end = findZerosEnd(bytes, probe)
      if (end === bytes.length || end - start >= minSize) return start
      from = end
    } else from = probe + 1
  }
  return bytes.length
}

/**
 * Separates holes from data: a run of at least `minSize` zeros is a hole wherever it begins, a shorter one is data. The
 * segments do not depend on the parts in which the bytes arrive, except for where data is split. Data is valid as long as the
 * bytes that were pushed.
 */
export const createHoleFinder = (minSize: number) => {
  const shortRun = new Uint8Array(minSize - 1)
  /** The number of zeros at the end of all bytes so far. */
  let pending = 0

  const flush = function* (): Generator<Segment> {
    if (pending >= minSize) yield { zeros: pending }
    else if (pending > 0) yield { data: shortRun.subarray(0, pending) }
    pending = 0
  }

  return {
    *push(bytes: Uint8Array): Generator<Segment> {
      let at = 0
      while (at < bytes.length) {
        const start = findZerosEnd(bytes, at)
        pending += start - at
        if (start === bytes.length) return
        yield* flush()
        at = findDataEnd(bytes, start, minSize)
        yield { data: bytes.subarray(start, at) }
      }
    },
    /** Adds zeros that are in no bytes. */
    pushZeros(count: number): void {
      pending += count
    },
    end: flush,
  }
}
