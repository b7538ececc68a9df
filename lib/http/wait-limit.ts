import { ServiceError } from '#lib/errors.ts'

/** Runs a call that may wait for a machine. Throws `unavailable` when the caller has too many such calls, else what the call throws. */
export type LimitWaiting = <T>(caller: string, call: () => Promise<T> | T) => Promise<T>

/** Limits the waiting calls of each caller, because each one holds a connection for as long as it waits. */
export const createWaitLimit = (maxPerCaller = 100): LimitWaiting => {
  const counts = new Map<string, number>()
  return async (caller, call) => {
    const count = counts.get(caller) ?? 0
    if (count >= maxPerCaller)
      throw new ServiceError(
        'unavailable',
        `You have ${maxPerCaller} calls with Prefer: wait under way, which is all that one user can have. Wait for one of them.`,
      )
    counts.set(caller, count + 1)
    try {
      return await call()
    } finally {
      const remaining = counts.get(caller)! - 1
      if (remaining === 0) counts.delete(caller)
      else counts.set(caller, remaining)
    }
  }
}
