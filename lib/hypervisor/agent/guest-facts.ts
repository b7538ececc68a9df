import { isIPv4, isIPv6 } from 'node:net'
import * as z from 'zod'
import { isFault } from '#lib/errors.ts'
import type { Address, GuestFacts } from '../driver.ts'
import type { Agent } from './agent.ts'

/** The most addresses of a machine that the service keeps. */
const maxAddresses = 32

/** A text of the guest as the service may show it: one line of limited length. */
const GuestText = (maxLength: number) =>
  z.string().transform(text => text.replace(/\p{C}/gu, ' ').trim().slice(0, maxLength).toWellFormed())

const AgentInfo = z.object({ version: GuestText(64) })
const OperatingSystem = z.object({
  id: GuestText(64).optional(),
  'pretty-name': GuestText(128).optional(),
  name: GuestText(128).optional(),
})
const Interfaces = z.array(
  z.object({
    'ip-addresses': z
      .array(z.object({ 'ip-address': z.string(), 'ip-address-type': z.enum(['ipv4', 'ipv6']) }))
      .optional(),
  }),
)

/** True for an address that other machines can reach: neither loopback nor one that needs the name of a card. */
const isReachable = ({ ip, type }: Address): boolean =>
  type === 'ipv4' ? isIPv4(ip) && !ip.startsWith('127.') : isIPv6(ip) && ip !== '::1' && !/^fe[89ab]/i.test(ip)

/** Returns the addresses of the guest's network cards without loopback and link-local ones, IPv4 first. Throws as the agent. */
export const readAddresses = async (agent: Agent): Promise<readonly Address[]> => {
  const interfaces = await agent.execute('guest-network-get-interfaces', { reply: Interfaces })
  const addresses = interfaces
    .flatMap(each => each['ip-addresses'] ?? [])
    .map(each => ({ ip: each['ip-address'], type: each['ip-address-type'] }))
    .filter(isReachable)
  return [...addresses.filter(({ type }) => type === 'ipv4'), ...addresses.filter(({ type }) => type === 'ipv6')].slice(
    0,
    maxAddresses,
  )
}

/** Returns the version of the agent and the operating system of the guest, if the agent tells it. Throws as the agent. */
export const readGuestFacts = async (agent: Agent): Promise<GuestFacts> => {
  const { version } = await agent.execute('guest-info', { reply: AgentInfo })
  const system = await agent.execute('guest-get-osinfo', { reply: OperatingSystem }).catch((error: unknown) => {
    // Some guests have no file that says what they are, and some agents have the command switched off.
    if (isFault(error, 'upstream') || isFault(error, 'unsupported')) return undefined
    throw error
  })
  const name = system?.['pretty-name'] ?? system?.name ?? system?.id
  return {
    agentVersion: version,
    ...(system?.id !== undefined && { systemId: system.id }),
    ...(name !== undefined && { systemName: name }),
  }
}
