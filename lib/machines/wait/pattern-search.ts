import { setTimeout as wait } from 'node:timers/promises'
import type { LinearPattern } from '#lib/calls/linear-pattern.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'

type Match = { readonly end: number } | undefined

/** Finds the first match of a pattern, in bytes. `not searched` if the signal was aborted while others searched. */
export type PatternSearch = (
  pattern: LinearPattern,
  bytes: Uint8Array,
  signal: AbortSignal,
) => Promise<Match | 'not searched'>

/** Milliseconds of a search after which the next one waits. */
const noticeable = 5
/** How many times as long as a search took nothing is searched. */
const restFactor = 3

/**
 * Creates the search that all waiting calls share. A guest that writes all the time and a slow pattern would otherwise take all of the
 * processor time of the service; so they take a quarter of it.
 */
export const createPatternSearch = (): PatternSearch => {
  const searches = createKeyedLimiter(1)
  return async (pattern, bytes, signal) => {
    const search = async (): Promise<Match> => {
      const start = performance.now()
      const match = pattern.findBytes(bytes)
      const took = performance.now() - start
      if (took > noticeable && !match) await wait(took * restFactor, undefined, { signal }).catch(() => {})
      return match
    }
    // A call whose time is over still searches what there is, if nobody is before it.
    if (!searches.isFull('')) return searches.run('', search)
    try {
      return await searches.run('', search, signal)
    } catch (error) {
      if (signal.aborted) return 'not searched'
      throw error
    }
  }
}
