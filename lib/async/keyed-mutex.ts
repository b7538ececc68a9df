import { abortable } from './abortable.ts'

/**
 * Runs `work` while no other work with the same key runs, in the order of the calls. A failure does not block the next call.
 * A call that still waits when its signal is aborted rejects with the signal's reason.
 */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

export const createKeyedMutex = (): KeyedMutex => {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, work, signal) => {
    const previous = tails.get(key)
    const result = (async () => {
      if (previous) await abortable(previous, signal)
      return work()
    })()
    // A call that stopped waiting must not let the next one start before the previous one has ended.
    const settled = Promise.allSettled([previous, result])
    tails.set(key, settled)
    try {
      return await result
    } finally {
      void settled.then(() => tails.get(key) === settled && tails.delete(key))
    }
  }
}
