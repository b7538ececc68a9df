import * as z from 'zod'
import { isFault } from '#lib/errors.ts'
import type { Agent } from './agent.ts'
import { runInGuest } from './guest-command.ts'
import { describePosixProgram } from './guest-program.ts'

/** Milliseconds that the program of the guest has. */
const timeLimit = 10_000

/**
 * Sets the clock of the guest to that of the host: after a pause the guest has the time at which that began. An agent whose guest
 * has no hwclock refuses it; then the guest's own `date` does it. Throws as the agent.
 */
export const setGuestTime = async (agent: Agent): Promise<void> => {
  try {
    // The agent takes nanoseconds. JSON has the number in full, although not every nanosecond is a number here.
    await agent.execute('guest-set-time', { arguments: { time: Date.now() * 1e6 }, reply: z.unknown() })
  } catch (error) {
    if (!isFault(error, 'upstream') && !isFault(error, 'unsupported')) throw error
    const program = describePosixProgram({ command: ['date', '-u', '-s', `@${Math.round(Date.now() / 1000)}`] })
    await runInGuest(agent, program, { outputLimit: 0, signal: AbortSignal.timeout(timeLimit) })
  }
}
