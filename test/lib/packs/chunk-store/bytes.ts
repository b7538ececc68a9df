import { createCipheriv } from 'node:crypto'

/** Bytes that look random and are the same for the same seed. */
export const noise = (size: number, seed: number): Buffer<ArrayBuffer> => {
  const key = Buffer.alloc(16)
  key.writeUInt32LE(seed)
  return Buffer.from(createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size)))
}

/** The bytes in pieces of these sizes in turn. */
export const split = async function* (bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = Math.min(at + sizes[turn % sizes.length]!, bytes.length)
    // A source may use its memory again, so what was given out is spoilt when the next is asked for.
    const piece = Uint8Array.from(bytes.subarray(at, end))
    yield piece
    piece.fill(0xa5)
    at = end
  }
}

/** What is read of a file in chunks, with its runs of zeros made. */
export const withZeros = async function* (
  parts: AsyncIterable<Uint8Array | { readonly zeros: number }>,
): AsyncGenerator<Uint8Array> {
  for await (const part of parts) yield 'zeros' in part ? Buffer.alloc(part.zeros) : part
}

/** All bytes of a stream. */
export const bytesOf = async (stream: AsyncIterable<Uint8Array | { readonly zeros: number }>): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of withZeros(stream)) parts.push(part)
  return Buffer.concat(parts)
}
