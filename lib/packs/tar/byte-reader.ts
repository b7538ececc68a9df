/** Reads a stream in parts of the sizes that a format asks for. */
export interface ByteReader {
  /** Reads the next `size` bytes; returns fewer at the end of the stream. */
  read(size: number): Promise<Buffer>
  /**
   * Reads the next `size` bytes part by part as they arrive, fewer at the end of the stream. A part is valid until the
   * caller asks for the next one.
   */
  stream(size: number): AsyncGenerator<Uint8Array>
}

/** Creates a reader of `source`. The reader never ends the source, whose owner does. */
export const createByteReader = (source: AsyncIterator<Uint8Array>): ByteReader => {
  let chunk: Uint8Array = new Uint8Array()
  /** The bytes of the chunk that were read already. */
  let offset = 0

  /** Gets the next chunk if all bytes of the current one were read. Returns false at the end of the source. */
  const fillChunk = async (): Promise<boolean> => {
    while (offset === chunk.length) {
      const next = await source.next()
      if (next.done === true) return false
      chunk = next.value
      offset = 0
    }
    return true
  }
  const takeFromChunk = (maxSize: number): Uint8Array => {
    const part = chunk.subarray(offset, offset + maxSize)
    offset += part.length
    return part
  }

  return {
    async read(size) {
      const bytes = Buffer.allocUnsafe(size)
      let filled = 0
      while (filled < size && (await fillChunk())) {
        const part = takeFromChunk(size - filled)
        bytes.set(part, filled)
        filled += part.length
      }
      return bytes.subarray(0, filled)
    },
    async *stream(size) {
      let remaining = size
      while (remaining > 0 && (await fillChunk())) {
        const part = takeFromChunk(remaining)
        remaining -= part.length
        yield part
      }
    },
  }
}
