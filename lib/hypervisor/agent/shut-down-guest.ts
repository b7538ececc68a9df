import * as z from 'zod'
import { isFault } from '#lib/errors.ts'
import type { Agent } from './agent.ts'

/** Milliseconds in which the agent reports that it cannot shut down. It does not answer if it can. */
const refusalTimeLimit = 2_000

/** Asks the agent to shut the guest down. Returns before the guest is down. Throws if the agent refuses. */
export const shutDownGuest = async (agent: Agent): Promise<void> => {
  try {
    await agent.execute('guest-shutdown', {
      arguments: { mode: 'powerdown' },
      reply: z.unknown(),
      timeLimit: refusalTimeLimit,
    })
  } catch (error) {
    if (!isFault(error, 'timeout')) throw error
  }
}
