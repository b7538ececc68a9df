import { createKeyCounts } from '#lib/async/key-counts.ts'
import { ServiceError } from '#lib/errors.ts'

/** Opens a stream for a caller. Throws `unavailable` for a caller who has too many open, and what `open` throws. */
export type OpenLimited = (
  caller: string,
  open: () => Promise<ReadableStream<Uint8Array>>,
) => Promise<ReadableStream<Uint8Array>>

/**
 * Limits how many streams each caller has open, because each one holds a file or a connection and a reader may be slow. A
 * stream counts until it is read to its end, fails or is cancelled.
 */
export const createStreamLimit = (maxStreams = 64): OpenLimited => {
  const streams = createKeyCounts()
  return async (caller, open) => {
    if (streams.get(caller) >= maxStreams)
      throw new ServiceError('unavailable', `You are already reading ${maxStreams} packs; read one to its end first.`)
    const counted = streams.add(caller)
    const release = (): void => counted[Symbol.dispose]()
    try {
      const reader = (await open()).getReader()
      return new ReadableStream(
        {
          async pull(controller) {
            try {
              const { done, value } = await reader.read()
              if (!done) return controller.enqueue(value)
              release()
              controller.close()
            } catch (error) {
              release()
              throw error
            }
          },
          cancel(reason) {
            release()
            return reader.cancel(reason)
          },
        },
        { highWaterMark: 0 },
      )
    } catch (error) {
      release()
      throw error
    }
  }
}
