import { messageOf, ServiceError } from '#lib/errors.ts'
import { abortable } from '#lib/async/abortable.ts'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import type { Undo } from './metadata.ts'

/** Milliseconds that an undo may take. */
const undoTimeout = 30_000

/**
 * Undoes a change that failed with `error`, and gives the error to throw: `error` itself. If the undo fails or takes too
 * long, the message of the error says so too.
 */
export const undoAfterFailure = async (error: unknown, undo: Undo): Promise<unknown> => {
  using timeLimit = createTimeLimit(undoTimeout, `it was not done within ${undoTimeout / 1_000} s.`)
  try {
    await abortable(undo(timeLimit.signal), timeLimit.signal)
    return error
  } catch (failure) {
    if (!(error instanceof ServiceError)) return error
    const { fault, message, causes, headers, extra } = error
    const addition = `What was written to the provider could not be taken back: ${messageOf(failure)}`
    return new ServiceError(fault, `${message} ${addition}`, { cause: error, stack: causes, headers, extra })
  }
}
