/** Limits how many works with the same key run at the same time. */
export interface KeyedLimiter {
  /** Whether the next call with this key would have to wait. */
  isFull(key: string): boolean
  /** Runs `work` when a slot is free. Throws the signal's reason when it is aborted during the wait, else what `work` throws. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

interface Queue {
  running: number
  readonly waiting: Set<() => void>
}

const waitForSlot = ({ waiting }: Queue, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = (): void => {
      waiting.delete(onSlot)
      reject(signal!.reason)
    }
    const onSlot = (): void => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
    waiting.add(onSlot)
    signal?.addEventListener('abort', onAbort, { once: true })
  })

export const createKeyedLimiter = (limit: number): KeyedLimiter => {
  const queues = new Map<string, Queue>()
  return {
    isFull: key => (queues.get(key)?.running ?? 0) >= limit,
    async run(key, work, signal) {
      const queue = queues.get(key) ?? { running: 0, waiting: new Set() }
      queues.set(key, queue)
      // Finished work hands its slot over, so `running` counts it already.
      if (queue.running >= limit) await waitForSlot(queue, signal)
      else queue.running += 1
      try {
        return await work()
      } finally {
        const [next] = queue.waiting
        if (next) {
          queue.waiting.delete(next)
          next()
        } else {
          queue.running -= 1
          if (queue.running === 0) queues.delete(key)
        }
      }
    },
  }
}
