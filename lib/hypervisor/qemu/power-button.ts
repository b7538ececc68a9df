import { abortable } from '#lib/async/abortable.ts'
import type { Agent } from '../agent/agent.ts'
import { shutDownGuest } from '../agent/shut-down-guest.ts'
import type { Qmp } from './qmp.ts'

/** Milliseconds between two presses of the power button: a guest that is still booting does not notice the first. */
const pressInterval = 2_000
/** Milliseconds until the first press after the agent was asked: a guest that shuts down needs no button. */
const agentAdvance = 10_000

/**
 * Asks the guest to power itself off, until the connection ends: first its agent, if there is one, and then by the power button.
 * Throws the reason of `deadline`.
 */
export const shutDownGracefully = async (qmp: Qmp, agent: Agent | undefined, deadline: AbortSignal): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false
  const press = (): void => {
    if (hasEnded) return
    qmp.execute('system_powerdown').catch(() => {})
    clearTimeout(timer)
    timer = setTimeout(press, pressInterval)
  }
  if (agent) {
    timer = setTimeout(press, agentAdvance)
    shutDownGuest(agent).catch(press)
  } else press()
  try {
    await abortable(qmp.closed, deadline)
  } finally {
    hasEnded = true
    clearTimeout(timer)
  }
}
