/**
 * Does `work` for each item, at most `lanes` at once, and takes the next item only when there is a lane for it. The first
 * failure is thrown when all that was begun has ended; nothing new is begun after it.
 */
export const inLanes = async <T>(
  items: AsyncIterable<T>,
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const running = new Set<Promise<void>>()
  let failed: { error: unknown } | undefined
  try {
    for await (const item of items) {
      const one = work(item)
        .catch((error: unknown) => {
          failed ??= { error }
        })
        .finally(() => running.delete(one))
      running.add(one)
      if (running.size >= lanes) await Promise.race(running)
      if (failed) break
    }
  } finally {
    await Promise.all(running)
  }
  if (failed) throw failed.error
}
