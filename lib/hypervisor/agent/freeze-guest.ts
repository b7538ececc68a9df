import * as z from 'zod'
import type { Agent } from './agent.ts'

/** Milliseconds that a guest has to write its caches to its disks. */
const freezeTimeLimit = 30_000

/**
 * Freezes the file systems of the guest while `work` runs, so that what is on its disks then is complete. `work` must be short:
 * the guest's programs wait when they write. It runs in any case; returns whether a file system was frozen. Throws what `work`
 * throws.
 */
export const runFrozen = async (
  agent: Agent | undefined,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<boolean> => {
  if (!agent) {
    await work()
    return false
  }
  try {
    const frozen = await agent
      .execute('guest-fsfreeze-freeze', { reply: z.int(), timeLimit: freezeTimeLimit, signal })
      .catch(() => 0)
    signal.throwIfAborted()
    await work()
    return frozen > 0
  } finally {
    // Also after a failed freeze, which may have frozen some file systems, or may be done after its time limit.
    await agent.execute('guest-fsfreeze-thaw', { reply: z.int(), timeLimit: freezeTimeLimit }).catch(() => {})
  }
}
