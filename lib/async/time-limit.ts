import { ServiceError } from '#lib/errors.ts'

/** A signal with a time limit. Dispose of it when the work has ended. */
export interface TimeLimit extends Disposable {
  readonly signal: AbortSignal
}

/** Makes a signal that is aborted with `signal`, or after `milliseconds` with a `timeout` error with this message. */
export const createTimeLimit = (milliseconds: number, message: string, signal?: AbortSignal): TimeLimit => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new ServiceError('timeout', message)), milliseconds)
  timer.unref()
  return {
    signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** Waits for a result, but not longer than `milliseconds`: gives undefined then, and the work behind it goes on. */
export const waitAtMost = async <T>(
  result: Promise<T>,
  milliseconds: number,
): Promise<{ readonly value: T } | undefined> => {
  const { promise: timedOut, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    return await Promise.race([result.then(value => ({ value })), timedOut])
  } finally {
    clearTimeout(timer)
  }
}
