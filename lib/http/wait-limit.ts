import { createKeyCounts } from '#lib/async/key-counts.ts'
import { ServiceError } from '#lib/errors.ts'

/** Runs a call that may wait for a machine. Throws `unavailable` when the caller has too many such calls, else what the call throws. */
export type LimitWaiting = <T>(caller: string, call: () => Promise<T> | T) => Promise<T>

/** Limits the waiting calls of each caller, because each one holds a connection for as long as it waits. */
export const createWaitLimit = (maxPerCaller = 100): LimitWaiting => {
  const waiting = createKeyCounts()
  return async (caller, call) => {
    if (waiting.get(caller) >= maxPerCaller)
      throw new ServiceError(
        'unavailable',
        `You have ${maxPerCaller} calls with Prefer: wait under way, which is all that one user can have. Wait for one of them.`,
      )
    using _call = waiting.add(caller)
    return await call()
  }
}
