import { AsyncLocalStorage } from 'node:async_hooks'
import { isFault, ServiceError } from '#lib/errors.ts'

/** An error after which another attempt may succeed: a broken connection, a busy server. */
export class TransientError extends ServiceError {
  /** Milliseconds that the server asks to wait before the next attempt. */
  readonly retryAfterMs: number

  constructor(message: string, cause: unknown, retryAfterMs = 0) {
    super('upstream', message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}

const maxAttempts = 10
const maxBackOff = 20_000

/** Whether the remote side caused an error, so that a later attempt may succeed. Wider than `TransientError`. */
export const isOutage = (error: unknown): boolean => isFault(error, 'upstream') || isFault(error, 'timeout')

/** Waits, at most until the signal is aborted. */
const sleep = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })

/** Set within an attempt of `withRetry`. */
const retryContext = new AsyncLocalStorage<true>()

/**
 * Retries an attempt, at most ten times in all, while `shouldRetry` accepts its error: by default each `TransientError`.
 * Within an attempt of another `withRetry` there is one attempt only and the outer call retries, because nested retries would
 * multiply. The attempt must be safe to repeat. Throws the error of the last attempt, or the reason of the signal.
 */
export const withRetry = async <T>(
  attempt: () => Promise<T>,
  signal?: AbortSignal,
  shouldRetry = (error: unknown): boolean => error instanceof TransientError,
): Promise<T> => {
  signal?.throwIfAborted()
  if (retryContext.getStore()) return attempt()
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await retryContext.run(true, attempt)
    } catch (error) {
      signal?.throwIfAborted()
      if (attempts === maxAttempts || !shouldRetry(error)) throw error
      // Jitter keeps clients that were cut off together from coming back together.
      const backOff = Math.random() * Math.min(100 * 2 ** attempts, maxBackOff)
      await sleep((error instanceof TransientError ? error.retryAfterMs : 0) + backOff, signal)
      signal?.throwIfAborted()
    }
  }
}
