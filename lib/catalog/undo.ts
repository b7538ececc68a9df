import { messageOf, ServiceError } from '#lib/errors.ts'
import { abortable } from '#lib/async/abortable.ts'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import type { Undo } from './metadata.ts'

/** Milliseconds that it may take to take something back. */
const limit = 30_000

/**
 * Takes back what a change has done that failed with `error`, and gives what to throw: that error. Where it cannot be taken
 * back, or not in time, the message says so too.
 */
export const undoAfter = async (error: unknown, undo: Undo): Promise<unknown> => {
  using limited = createTimeLimit(limit, `it was not done within ${limit / 1_000} s.`)
  try {
    await abortable(undo(limited.signal), limited.signal)
    return error
  } catch (failure) {
    if (!(error instanceof ServiceError)) return error
    const { fault, message, causes, headers, extra } = error
    const left = `What was written to the provider could not be taken back: ${messageOf(failure)}`
    return new ServiceError(fault, `${message} ${left}`, { cause: error, stack: causes, headers, extra })
  }
}
