/** Reads a whole stream into memory. Throws the error that `createTooLargeError` gives when it has more than `limit` bytes. */
export const readBytes = async (
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  createTooLargeError: () => Error,
): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > limit) throw createTooLargeError()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
