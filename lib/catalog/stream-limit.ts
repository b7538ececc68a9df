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
  const counts = new Map<string, number>()
  const changeCount = (caller: string, by: number): void => {
    const count = (counts.get(caller) ?? 0) + by
    if (count === 0) counts.delete(caller)
    else counts.set(caller, count)
  }
  return async (caller, open) => {
    if ((counts.get(caller) ?? 0) >= maxStreams)
      throw new ServiceError('unavailable', `You are already reading ${maxStreams} packs; read one to its end first.`)
    changeCount(caller, 1)
    let isCounted = true
    const release = (): void => {
      if (isCounted) changeCount(caller, -1)
      isCounted = false
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
