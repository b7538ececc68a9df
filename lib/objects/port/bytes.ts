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
