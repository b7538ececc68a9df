import { createKeyedLimiter } from '#lib/async/limiter.ts'
import type { RequestContext } from './context.ts'

/** Runs the part of a request that holds its body of at most `limit` bytes in memory, when its caller has a share left for it. */
export type ShareMemory = (context: RequestContext, limit: number | undefined, work: () => unknown) => unknown

/** Bodies with a lower limit than this are not counted. */
const smallLimit = 1024 * 1024

/** Limits the bytes of large bodies of each caller that are in memory at the same time. Requests beyond it wait, unread. */
export const createMemoryShares = (maxPerCaller = 64 * 1024 * 1024): ShareMemory => {
  const shares = createKeyedLimiter(maxPerCaller)
  return (context, limit = 0, work) => {
    const { caller } = context
    if (limit < smallLimit || !caller) return work()
    const size = Math.min(Number(context.header('content-length')) || limit, limit)
    // The signal is made when it is first read, and most bodies need none.
    return shares.run(caller.id, async () => work(), context.signal, size)
  }
}
