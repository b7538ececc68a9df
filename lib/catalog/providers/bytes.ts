import type { Source } from './provider.ts'

/** Bytes in memory as a source. */
export const sourceOfBytes = (bytes: Uint8Array): Source => ({
  size: bytes.byteLength,
  read: ({ start, end }) =>
    new ReadableStream({
      start(controller) {
        if (end > start) controller.enqueue(bytes.subarray(start, end))
        controller.close()
      },
    }),
})

/** All of a stream in memory. Throws `tooLarge` when there is more than `most` bytes. */
export const bytesOf = async (
  stream: ReadableStream<Uint8Array>,
  most: number,
  tooLarge: () => Error,
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > most) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
