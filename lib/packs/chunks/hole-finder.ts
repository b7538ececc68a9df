/** A part of a file: bytes, or as many zeros as nobody has to keep. */
export type Part<Data extends Uint8Array = Uint8Array> = { readonly data: Data } | { readonly zeros: number }

/** Bytes that are compared at once. */
const block = 64 * 1024
const zeroBlock = Buffer.alloc(block)

/** Where the zeros that begin at `at` end. */
const zerosEnd = (bytes: Uint8Array, at: number): number => {
  let end = at
  while (bytes[end] === 0) {
    if (end + block <= bytes.length && zeroBlock.compare(bytes, end, end + block) === 0) end += block
    else end += 1
  }
  return end
}

/** Where the first zeros begin that are `least` or more, or go on to the end: those may be more with what comes next. */
const dataEnd = (bytes: Uint8Array, at: number, least: number): number => {
  let from = at
  while (from < bytes.length) {
    // Whatever is long enough and begins before this place covers it, so most bytes are not looked at.
    const probe = Math.min(from + least, bytes.length) - 1
    if (bytes[probe] === 0) {
      let start = probe
      while (start > from && bytes[start - 1] === 0) start -= 1
      const end = zerosEnd(bytes, probe)
      if (end === bytes.length || end - start >= least) return start
      from = end
    } else from = probe + 1
  }
  return bytes.length
}

/**
 * Tells holes from data: a run of `least` or more zero bytes is a hole wherever it begins, shorter ones are data. The
 * parts are the same however the bytes are cut on their way here, but for where data is cut. Data that is given out is
 * good until the next call.
 */
export const createHoleFinder = (least: number) => {
  const shortRun = new Uint8Array(least - 1)
  /** Zeros at the end of what came. */
  let pending = 0

  const settle = function* (): Generator<Part> {
    if (pending >= least) yield { zeros: pending }
    else if (pending > 0) yield { data: shortRun.subarray(0, pending) }
    pending = 0
  }

  return {
    *push(bytes: Uint8Array): Generator<Part> {
      let at = 0
      while (at < bytes.length) {
        const start = zerosEnd(bytes, at)
        pending += start - at
        if (start === bytes.length) return
        yield* settle()
        at = dataEnd(bytes, start, least)
        yield { data: bytes.subarray(start, at) }
      }
    },
    end: settle,
  }
}
