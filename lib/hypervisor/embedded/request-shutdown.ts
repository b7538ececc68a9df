import { ServiceError } from '#lib/errors.ts'
import type { Agent } from '../agent/agent.ts'
import { shutDownGuest } from '../agent/shut-down-guest.ts'
import type { Session } from './worker-session.ts'

/** The input that asks a multiboot guest to shut down. v86 has no power button. */
const shutDownRequest = Buffer.from('s')

/**
 * Asks the guest to shut down: Linux by its agent, another one on its console. Returns before the guest is down. Throws `conflict`
 * for a Linux without an agent, and as the agent.
 */
export const requestShutdown = async (
  session: Session,
  { name }: { readonly name: string },
  agent: Agent | undefined,
): Promise<void> => {
  if (!session.hasAgentLine) return session.sendInput('console', shutDownRequest)
  // The guest may be down before the agent's time to refuse is over.
  if (agent) return void (await Promise.race([shutDownGuest(agent), session.ended]))
  throw new ServiceError(
    'conflict',
    `${name} cannot be asked to shut down: embedded machines have no power button, and no guest agent answers. Shut it down from within, or stop it by force.`,
  )
}
