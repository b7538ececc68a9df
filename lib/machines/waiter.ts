import type { WaitLimit } from '#lib/async/progress.ts'

/** A request that waits until its machine is free. */
export interface Waiter<R> {
  readonly request: R
  /** Settles as the started operation does. Rejects when the request will not start any more. */
  readonly result: Promise<void>
  /** Ends the wait: the operation has started. */
  resolve(operation: Promise<void>): void
  /** Ends the wait with an error: the operation will not start. */
  reject(reason: Error): void
}

interface Options {
  /** Creates the error for a request whose wait limit has passed. */
  readonly createTimeoutError: () => Error
  /** Called after the wait has ended with an error. */
  readonly onRejected: () => void
}

/** The longest delay of a timer in Node, about 25 days. */
const maxTimerDelay = 2 ** 31 - 1

/**
 * Waits for the machine of a request. Rejects when the time limit passes, or when the signal of the request or limit aborts.
 */
export const createWaiter = <R extends { readonly signal?: AbortSignal | undefined }>(
  request: R,
  { milliseconds, signal }: WaitLimit,
  { createTimeoutError, onRejected }: Options,
): Waiter<R> => {
  const { promise: result, resolve: resolveResult, reject: rejectResult } = Promise.withResolvers<void>()
  const signals = [request.signal, signal].filter(each => each !== undefined)
  const stopWaiting = (): void => {
    clearTimeout(timer)
    for (const each of signals) each.removeEventListener('abort', onAbort)
  }
  const reject = (reason: Error): void => {
    stopWaiting()
    rejectResult(reason)
    onRejected()
  }
  // Only AbortSignals have this listener.
  const onAbort = ({ target }: Event): void => reject((target as AbortSignal).reason)
  const timer = setTimeout(() => reject(createTimeoutError()), Math.min(milliseconds, maxTimerDelay))
  for (const each of signals) each.addEventListener('abort', onAbort)
  return {
    request,
    result,
    resolve(operation) {
      stopWaiting()
      resolveResult(operation)
    },
    reject,
  }
}
