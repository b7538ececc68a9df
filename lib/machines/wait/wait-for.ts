import type { Condition } from './conditions.ts'
import type { Wait, WaitContext, WaitEnd, WaitResult } from './context.ts'
import { waitForEvent } from './for-event.ts'
import { waitForPort } from './for-port.ts'
import { waitForSerial } from './for-serial.ts'
import { waitForView } from './for-view.ts'

interface Options {
  readonly id: string
  readonly since?: string | undefined
  /** Infinity for a job, which waits until somebody cancels it. */
  readonly milliseconds: number
  /** True if a stopped machine ends the wait whatever the condition, because the caller has started it. */
  readonly endsWhenStopped?: boolean
  /** Aborted when nobody waits any more. */
  readonly signal?: AbortSignal | undefined
}

const startWait = (context: WaitContext, condition: Condition, wait: Wait) => {
  switch (condition.kind) {
    case 'view':
      return waitForView(context, wait, condition.holds)
    case 'serial':
      return waitForSerial(context, wait, condition.pattern)
    case 'port':
      return waitForPort(context, wait, condition.port)
    case 'event':
      return waitForEvent(context, wait, condition.message)
  }
}

/**
 * Waits until a condition of a machine holds, until the machine is gone, until it has stopped if the condition needs its guest, or
 * until the time is over. Throws `invalid` for a bad cursor, and the reason of the signal.
 */
export const waitFor = async (
  context: WaitContext,
  condition: Condition,
  { id, since, milliseconds, endsWhenStopped = condition.needsGuest, signal: abandoned }: Options,
): Promise<WaitResult> => {
  const signal = AbortSignal.any([
    ...(Number.isFinite(milliseconds) ? [AbortSignal.timeout(milliseconds)] : []),
    ...(abandoned ? [abandoned] : []),
  ])
  const findEnd = (): WaitEnd | undefined => {
    const view = context.findView(id)
    if (!view) return 'gone'
    const isDown = view.state === 'stopped' || view.state === 'invalid'
    return endsWhenStopped && isDown && context.findTransientState(id) === undefined ? 'stopped' : undefined
  }
  const result = await startWait(context, condition, { id, since, signal, findEnd })
  abandoned?.throwIfAborted()
  return result
}
