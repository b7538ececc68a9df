/** Reads a stream in the pieces that a format asks for. */
export interface ByteReader {
  /** The next `size` bytes, fewer at the end. */
  take(size: number): Promise<Buffer>
  /** The next `size` bytes as they come, fewer at the end. Each part is good until the next is asked for. */
  parts(size: number): AsyncGenerator<Uint8Array>
}

/** `source` is not ended by this. */
export const createByteReader = (source: AsyncIterator<Uint8Array>): ByteReader => {
  let chunk: Uint8Array = new Uint8Array()
  let at = 0

  /** Whether there is something to read. */
  const fill = async (): Promise<boolean> => {
    while (at === chunk.length) {
      const next = await source.next()
      if (next.done === true) return false
      chunk = next.value
      at = 0
    }
    return true
  }
  const next = (most: number): Uint8Array => {
    const part = chunk.subarray(at, at + most)
    at += part.length
    return part
  }

  return {
    async take(size) {
      const bytes = Buffer.allocUnsafe(size)
      let have = 0
      while (have < size && (await fill())) {
        const part = next(size - have)
        bytes.set(part, have)
        have += part.length
      }
      return bytes.subarray(0, have)
    },
    async *parts(size) {
      let left = size
      while (left > 0 && (await fill())) {
        const part = next(left)
        left -= part.length
        yield part
      }
    },
  }
}
