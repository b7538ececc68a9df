import { readFile } from 'node:fs/promises'
import type { Agent } from '../../agent/agent.ts'
import { readCardUsage } from '../../agent/card-usage.ts'
import type { Definition } from '../../definition.ts'
import type { CardUsage } from '../../driver.ts'
import { getCardName } from '../../parts.ts'
import { nameTap } from '../network/names.ts'
import { hasTap } from '../network/taps.ts'

/** Milliseconds that the guest agent has to answer. */
const timeout = 1_000

const readCount = async (tap: string, name: string): Promise<number> =>
  Number(await readFile(`/sys/class/net/${tap}/statistics/${name}`, 'latin1'))

/** Reads what Linux has counted on a tap. What a tap receives is what its guest sends. */
const measureTap = async (id: string, card: string): Promise<CardUsage | undefined> => {
  const tap = nameTap(id, card)
  try {
    const [bytesSent, bytesReceived] = await Promise.all([readCount(tap, 'rx_bytes'), readCount(tap, 'tx_bytes')])
    return { card, countedBy: 'host', bytesReceived, bytesSent }
  } catch {
    return undefined
  }
}

/**
 * Measures the network cards of a running machine. Linux counts on a tap. QEMU does not count on the other cards, so their guest is
 * asked. Cards that nobody counts are left out.
 */
export const measureCards = async (
  { id, networks }: Pick<Definition, 'id' | 'networks'>,
  agent: Agent | undefined,
): Promise<readonly CardUsage[]> => {
  const ofGuest =
    agent && !networks.every(hasTap) ? await readCardUsage(agent, timeout).catch(() => undefined) : undefined
  const measured = await Promise.all(
    networks.map(async (network, at): Promise<CardUsage | undefined> => {
      const card = getCardName(network, at)
      if (hasTap(network)) return measureTap(id, card)
      const usage = ofGuest?.get(network.mac.toLowerCase())
      return usage && { card, countedBy: 'guest', ...usage }
    }),
  )
  return measured.filter(usage => usage !== undefined)
}
