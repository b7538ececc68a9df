import * as z from 'zod'
import type { Agent } from './agent.ts'

const Count = z.int().nonnegative()
const Interfaces = z.array(
  z.object({
    'hardware-address': z.string().optional(),
    statistics: z.object({ 'rx-bytes': Count, 'tx-bytes': Count }).optional().catch(undefined),
  }),
)

/** The bytes that a guest has counted on a card since it has started. */
export interface GuestCardUsage {
  readonly bytesReceived: number
  readonly bytesSent: number
}

/**
 * Reads what the guest has counted on its network cards, by their MAC addresses in lower case. Throws as the agent, which has
 * `timeLimit` milliseconds.
 */
export const readCardUsage = async (agent: Agent, timeLimit: number): Promise<ReadonlyMap<string, GuestCardUsage>> => {
  const signal = AbortSignal.timeout(timeLimit)
  const interfaces = await agent.execute('guest-network-get-interfaces', { reply: Interfaces, timeLimit, signal })
  const cards = new Map<string, GuestCardUsage>()
  for (const { 'hardware-address': mac, statistics } of interfaces) {
    if (mac === undefined || !statistics) continue
    const [key, usage] = [
      mac.toLowerCase(),
      { bytesReceived: statistics['rx-bytes'], bytesSent: statistics['tx-bytes'] },
    ]
    const other = cards.get(key)
    // A bridge or a VLAN of the guest has the address of the card that it is on, and counts a part of its bytes.
    if (!other || other.bytesReceived + other.bytesSent < usage.bytesReceived + usage.bytesSent) cards.set(key, usage)
  }
  return cards
}
