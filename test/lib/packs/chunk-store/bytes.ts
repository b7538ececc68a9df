import { createCipheriv } from 'node:crypto'

/** Returns bytes that look random, the same for the same seed. */
export const noise = (size: number, seed: number): Buffer<ArrayBuffer> => {
  const key = Buffer.alloc(16)
  key.writeUInt32LE(seed)
  return Buffer.from(createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size)))
}

/** Splits bytes into parts of these sizes, repeatedly. */
export const split = async function* (bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, round = 0; at < bytes.length; round += 1) {
    const end = Math.min(at + sizes[round % sizes.length]!, bytes.length)
    // A source may reuse its memory, so each part is overwritten when the next one is requested.
    const part = Uint8Array.from(bytes.subarray(at, end))
    yield part
    part.fill(0xa5)
    at = end
  }
}

/** Replaces each run of zeros in a content by its bytes. */
export const withZeros = async function* (
  parts: AsyncIterable<Uint8Array | { readonly zeros: number }>,
): AsyncGenerator<Uint8Array> {
  for await (const part of parts) yield 'zeros' in part ? Buffer.alloc(part.zeros) : part
}

/** Reads all bytes of a stream. */
export const bytesOf = async (stream: AsyncIterable<Uint8Array | { readonly zeros: number }>): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of withZeros(stream)) parts.push(part)
  return Buffer.concat(parts)
}
