/**
 * Calls `work` for each item, for at most `concurrency` items at the same time. It takes the next item only when it can start
 * it. After the first failure it starts no further item, waits for the running ones and throws that failure.
 */
export const forEachConcurrent = async <T>(
  items: AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const running = new Set<Promise<void>>()
  let failure: { error: unknown } | undefined
  try {
    for await (const item of items) {
      const task = work(item)
        .catch((error: unknown) => {
          failure ??= { error }
        })
        .finally(() => running.delete(task))
      running.add(task)
      if (running.size >= concurrency) await Promise.race(running)
      if (failure) break
    }
  } finally {
    await Promise.all(running)
  }
  if (failure) throw failure.error
}
