import { setTimeout as wait } from 'node:timers/promises'
import { isFault } from '#lib/errors.ts'

const tries = 5

/** What another try can mend. */
const isPassing = (error: unknown): boolean => isFault(error, 'upstream') || isFault(error, 'timeout')

/** Tries what fetches a part of a pack until it comes, some times with longer and longer pauses. */
export const retried = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error) || attempt === tries) throw error
      await wait(250 * 2 ** attempt, undefined, { signal })
    }
}
