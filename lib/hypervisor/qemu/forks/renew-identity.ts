import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '#lib/platform/log.ts'
import { messageOf } from '#lib/errors.ts'
import type { Agent } from '../../agent/agent.ts'
import { renewGuest } from '../../agent/renew-guest.ts'
import { getCardName } from '../../parts.ts'
import { describeCard } from '../arguments/networks.ts'
import { plug, unplug } from '../devices/plug.ts'
import type { RunningMachine } from '../devices/step.ts'
import type { QemuMachine } from '../machine.ts'
import { readForkMarker, removeForkMarker } from './marker.ts'

/** Milliseconds in which the agent of a fork has to answer, if its source had one. */
const agentTimeout = 30_000
/** Milliseconds between two looks for the agent. */
const agentInterval = 50
/** How often a guest is asked to release a card. It may be busy. */
const maxTries = 6

/**
 * Replaces the cards of the source by cards with the MAC addresses of the fork, and connects them. A guest that does not release a
 * card keeps it, disconnected. Returns the names of such cards.
 */
const replaceCards = async (
  running: RunningMachine,
  { view, control }: Pick<QemuMachine, 'view' | 'control'>,
): Promise<readonly string[]> => {
  const { definition } = view()
  const isRunning = (): boolean => control.current()?.pid === running.pid
  const kept: string[] = []
  for (const [at, card] of definition.networks.entries()) {
    const name = getCardName(card, at)
    const device = describeCard(definition, name, card)
    let isReleased = false
    for (let tries = 0; !isReleased && tries < maxTries && isRunning(); tries += 1)
      isReleased = await unplug(running, device).then(
        () => true,
        () => false,
      )
    if (isReleased) {
      await plug(running, device)
      await running.qmp.execute('set_link', { name, up: true })
    } else kept.push(name)
  }
  return kept
}

/** Waits for the agent of a guest. Resolves to undefined if there is none in time. */
const waitForAgent = async ({ agentPort }: Pick<QemuMachine, 'agentPort'>): Promise<Agent | undefined> => {
  for (const end = Date.now() + agentTimeout; Date.now() < end; await wait(agentInterval)) {
    const agent = agentPort.current()
    if (agent) return agent
  }
  return undefined
}

/**
 * Gives the guest of a fork that runs its own identity: MAC addresses, and with an agent its host name, machine id and random numbers.
 * That takes as long as the guest needs. Does nothing for a QEMU that has an identity of its own. Never throws.
 */
export const renewIdentity = async (
  machine: QemuMachine,
  { hasAgent, log }: { readonly hasAgent: boolean; readonly log: Logger },
): Promise<void> => {
  const { id, name, home } = machine.view()
  const warn = (error: unknown): void => log.warning('{id}: {error}', { id, error: messageOf(error) })
  try {
    const forked = await readForkMarker(home)
    if (forked === undefined) return
    const { pid, qmp } = await machine.control.connect()
    if (pid !== forked) return
    const running = { pid, qmp, subscribe: machine.control.subscribe, warn }
    const tellGuest = async (): Promise<void> => {
      const agent = hasAgent ? await waitForAgent(machine) : undefined
      if (agent) await renewGuest(agent, { id, name })
      else if (hasAgent) warn('its guest agent does not answer, so its guest keeps the host name of its source.')
    }
    const [kept] = await Promise.all([replaceCards(running, machine), tellGuest().catch(warn)])
    // The machine may have stopped, or may be gone.
    if (machine.control.current()?.pid !== pid) return
    machine.setDisconnectedCards(kept)
    await removeForkMarker(home)
  } catch (error) {
    warn(error)
  }
}
