import type { ServiceError } from '#lib/errors.ts'
import type { MemberRecord } from './records.ts'

/** The claims that wait, in the order in which they came. */
export interface Line {
  /** The number of claims that wait for a machine of a pool. */
  count(poolId: string): number
  /** Waits for a machine. Rejects with the reason of the signal; then the claim gets none. */
  join(poolId: string, signal: AbortSignal): Promise<MemberRecord>
  /** Gives machines to the first in line, as long as `take` has one. */
  serve(poolId: string, take: () => MemberRecord | undefined): void
  /** Ends the wait for a pool that is gone, or for all of them. */
  reject(error: ServiceError, poolId?: string): void
}

interface Waiter {
  readonly poolId: string
  readonly resolve: (member: MemberRecord) => void
  readonly reject: (error: unknown) => void
}

export const createLine = (): Line => {
  const waiters = new Set<Waiter>()
  const listWaiters = (poolId?: string): readonly Waiter[] =>
    [...waiters].filter(waiter => poolId === undefined || waiter.poolId === poolId)
  return {
    count: poolId => listWaiters(poolId).length,
    async join(poolId, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<MemberRecord>()
      const waiter = { poolId, resolve, reject }
      const onAbort = (): void => {
        // At once, so that a machine is not given to somebody who has gone.
        waiters.delete(waiter)
        reject(signal.reason)
      }
      waiters.add(waiter)
      if (signal.aborted) onAbort()
      signal.addEventListener('abort', onAbort)
      try {
        return await promise
      } finally {
        waiters.delete(waiter)
        signal.removeEventListener('abort', onAbort)
      }
    },
    serve(poolId, take) {
      for (const waiter of listWaiters(poolId)) {
        const member = take()
        if (!member) return
        waiters.delete(waiter)
        waiter.resolve(member)
      }
    },
    reject(error, poolId) {
      for (const waiter of listWaiters(poolId)) waiter.reject(error)
    },
  }
}
