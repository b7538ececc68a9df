/** Limits how much work with the same key runs at the same time. */
export interface KeyedLimiter {
  /** Whether the next call with this key would have to wait. */
  isFull(key: string): boolean
  /**
   * Runs `work` when there is room for it: it takes `weight` of the limit, 1 when left out and the limit at most. Throws the signal's
   * reason when it is aborted during the wait, else what `work` throws.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal, weight?: number): Promise<T>
}

interface Waiter {
  readonly weight: number
  readonly onRoom: () => void
}

interface Queue {
  /** The weight of the work that runs. */
  running: number
  /** In the order of their calls. A large one is not passed by smaller ones, which could keep it waiting for ever. */
  readonly waiting: Set<Waiter>
}

export const createKeyedLimiter = (limit: number): KeyedLimiter => {
  const queues = new Map<string, Queue>()

  const startNext = (key: string, queue: Queue): void => {
    for (const waiter of queue.waiting) {
      if (queue.running + waiter.weight > limit) break
      queue.waiting.delete(waiter)
      queue.running += waiter.weight
      waiter.onRoom()
    }
    if (queue.running === 0) queues.delete(key)
  }
  /** Settles when the work may run, whose weight counts then. */
  const waitForRoom = (key: string, queue: Queue, weight: number, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const onAbort = (): void => {
        queue.waiting.delete(waiter)
        reject(signal?.reason)
        startNext(key, queue)
      }
      const waiter: Waiter = {
        weight,
        onRoom() {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      queue.waiting.add(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
    })

  return {
    isFull: key => (queues.get(key)?.running ?? 0) >= limit,
    async run(key, work, signal, weight = 1) {
      const queue = queues.get(key) ?? { running: 0, waiting: new Set() }
      queues.set(key, queue)
      if (queue.waiting.size > 0 || queue.running + weight > limit) await waitForRoom(key, queue, weight, signal)
      else queue.running += weight
      try {
        return await work()
      } finally {
        queue.running -= weight
        startNext(key, queue)
      }
    },
  }
}
