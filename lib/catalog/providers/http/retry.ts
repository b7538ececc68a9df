import { ServiceError } from '#lib/errors.ts'

/** What failed now and may work later: a line that broke, a server that is busy. */
export class Passing extends ServiceError {
  /** Milliseconds that the server wants to be left alone. */
  readonly after: number

  constructor(message: string, cause: unknown, after = 0) {
    super('upstream', message, { cause })
    this.after = after
  }
}

const attempts = 10
const longestBackOff = 20_000
const longestAsked = 60_000

/** Milliseconds that a Retry-After asks for, which has seconds or a date (RFC 9110, 10.2.3); 0 for none. */
export const retryAfter = (header: string | undefined): number => {
  if (header === undefined) return 0
  const asked = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), longestAsked)
}

/** Waits, and not longer than anybody wants. */
const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })

/**
 * Makes an attempt again while it fails with `Passing` and `mayRepeat` is true, at most ten times in all, and not once it is aborted. The
 * attempt must be one that may be made twice. Throws what the last one threw, or the signal's reason.
 */
export const repeat = async <T>(
  attempt: () => Promise<T>,
  signal?: AbortSignal,
  mayRepeat = () => true,
): Promise<T> => {
  for (let made = 1; ; made += 1) {
    signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof Passing) || made === attempts || !mayRepeat()) throw error
      // With jitter, or all who were cut off at once would come back at once.
      const backOff = Math.random() * Math.min(100 * 2 ** made, longestBackOff)
      await pause(error.after + backOff, signal)
    }
  }
}
