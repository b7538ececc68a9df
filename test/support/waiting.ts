import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds in which everything comes that will come, also where the machine is busy with other tests. */
export const patience = 120_000

/** Milliseconds after which `until` usually fails: before the test, whose timeout would not tell what was waited for. */
const longestWait = 200_000

/**
 * Looks again and again until `look` throws no more, and gives what it gave then; fails with what it threw last. `every`:
 * the milliseconds between two looks, fewer where what is waited for passes. `longest`: milliseconds after which it fails.
 */
export const until = async <T>(look: () => T | Promise<T>, every = 10, longest = longestWait): Promise<T> => {
  const limit = AbortSignal.timeout(longest)
  for (;;) {
    try {
      return await look()
    } catch (error) {
      if (limit.aborted) throw error
    }
    await sleep(every)
  }
}

/** Lets a moment pass of which nothing depends that could be seen. Throws when it is longer than 200 ms: `until` waits longer. */
export const pause = (milliseconds: number): Promise<void> => {
  if (milliseconds > 200) throw new RangeError(`a pause of ${milliseconds} ms: wait for a condition instead`)
  return sleep(milliseconds)
}

/** Waits for a part of a time that the same work was measured to take: a moment in the middle of it. */
export const passing = (part: number, milliseconds: number): Promise<void> => sleep(part * milliseconds)
