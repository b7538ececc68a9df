import type { Source } from './provider.ts'

/** Makes a source of bytes in memory. */
export const toSource = (bytes: Uint8Array): Source => ({
  size: bytes.byteLength,
  read: ({ start, end }) =>
    new ReadableStream({
      start(controller) {
        if (end > start) controller.enqueue(bytes.subarray(start, end))
        controller.close()
      },
    }),
})

/** Reads a whole stream into memory. Throws the error that `onTooLarge` gives when the stream has more than `limit` bytes. */
export const readBytes = async (
  stream: ReadableStream<Uint8Array>,
  limit: number,
  onTooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > limit) throw onTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
