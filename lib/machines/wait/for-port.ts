import { setTimeout as pause } from 'node:timers/promises'
import { abortable } from '#lib/async/abortable.ts'
import { isFault } from '#lib/errors.ts'
import type { Wait, WaitContext, WaitResult } from './context.ts'

/** Milliseconds between two connections to a guest that refuses them. */
const retryInterval = 250

/** Tries to connect once. Throws what no later attempt would mend. */
const accepts = async ({ driver }: WaitContext, { id, signal }: Wait, port: number): Promise<boolean> => {
  const connecting = driver.openTunnel!(id, port)
  // The attempt goes on when nobody waits for it any more, and its connection is closed then.
  void connecting.then(
    connection => connection.destroy(),
    () => {},
  )
  try {
    await abortable(connecting, signal)
    return true
  } catch (error) {
    if (signal.aborted || ['upstream', 'timeout', 'conflict'].some(fault => isFault(error, fault as 'upstream')))
      return false
    throw error
  }
}

/** Waits until a TCP port of a running guest accepts a connection. */
export const waitForPort = async (context: WaitContext, wait: Wait, port: number): Promise<WaitResult> => {
  const { id, signal, findEnd } = wait
  for (;;) {
    if (context.findView(id)?.state === 'running' && (await accepts(context, wait, port))) return { end: 'met' }
    const end = findEnd() ?? (signal.aborted ? 'timeout' : undefined)
    if (end) return { end }
    await pause(retryInterval, undefined, { signal, ref: false }).catch(() => {})
  }
}
