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
