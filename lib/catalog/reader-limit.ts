import { ServiceError } from '#lib/errors.ts'

/** Opens a stream for a caller. Throws `unavailable` for one who has too many open, and as `open` does. */
export type OpenFor = (
  caller: string,
  open: () => Promise<ReadableStream<Uint8Array>>,
) => Promise<ReadableStream<Uint8Array>>

/**
 * Counts the streams of each caller until they are read to their end, fail or are given up. `most` is how many may be open:
 * each holds a file or a connection, and a reader may take its time.
 */
export const createReaders = (most = 64): OpenFor => {
  const readers = new Map<string, number>()
  const change = (caller: string, by: number): void => {
    const now = (readers.get(caller) ?? 0) + by
    if (now === 0) readers.delete(caller)
    else readers.set(caller, now)
  }
  return async (caller, open) => {
    if ((readers.get(caller) ?? 0) >= most)
      throw new ServiceError('unavailable', `You are reading ${most} packs already; read one to its end first.`)
    change(caller, 1)
    let counted = true
    const release = (): void => {
      if (counted) change(caller, -1)
      counted = false
    }
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
