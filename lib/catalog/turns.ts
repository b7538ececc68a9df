/**
 * Runs what is of one key one after the other; what failed does not keep the next from coming. Who waits is let go by their
 * signal, with its reason.
 */
export type Turns = <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

const comesBefore = async (before: Promise<unknown> | undefined, signal: AbortSignal | undefined): Promise<void> => {
  signal?.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const give = (): void => reject(signal!.reason)
  signal?.addEventListener('abort', give, { once: true })
  try {
    await Promise.race([before, aborted])
  } finally {
    signal?.removeEventListener('abort', give)
  }
}

export const createTurns = (): Turns => {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work, signal) => {
    const before = last.get(key)
    const mine = (async () => {
      if (before) await comesBefore(before, signal)
      return work()
    })()
    // Who gave up waiting does not let the next come sooner.
    const both = Promise.allSettled([before, mine])
    last.set(key, both)
    try {
      return await mine
    } finally {
      void both.then(() => last.get(key) === both && last.delete(key))
    }
  }
}
