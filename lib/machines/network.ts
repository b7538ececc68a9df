import type { MachineView, Platform } from '#lib/hypervisor/driver.ts'
import { parseMode } from '#lib/hypervisor/network-modes.ts'

/**
 * Returns the network mode of a machine, or undefined if it has no network card. Machines of versions without modes are `open`:
 * their network reaches the loopback of the host. Of several cards the modes are joined; an isolated card beside others does not
 * count.
 */
export const findNetworkMode = (
  { definition: { networks } }: Pick<MachineView, 'definition'>,
  { networkCard }: Pick<Platform, 'networkCard'>,
): string | undefined => {
  if (networkCard === '' || networks.length === 0) return undefined
  const modes = new Set(networks.map(({ mode = 'open' }) => mode))
  if (modes.has('open')) return 'open'
  return [...modes].filter(mode => mode !== 'isolated').join(', ') || 'isolated'
}

/**
 * Returns the problem of a machine as text: the one that the driver reports, else that its network is disconnected, or open.
 */
export const describeProblem = (view: MachineView, platform: Platform): string | undefined => {
  const { problem, disconnectedCards } = view
  if (problem !== undefined) return problem
  if (disconnectedCards) return `network disconnected: ${disconnectedCards.join(', ')}`
  return findNetworkMode(view, platform) === 'open' ? "reaches the host's loopback" : undefined
}

const describeMode = (mode: string): string => {
  const { kind, name } = parseMode(mode)
  switch (kind) {
    case 'isolated':
      return 'Its network is isolated: it reaches neither the internet nor this host.'
    case 'nat':
      return 'Its network reaches the internet and the addresses of this host, but its loopback only if guest_host_access allows that.'
    case 'bridge':
      return `Its network is that of the bridge ${name} of this host.`
    case 'network':
      return `Its network ${name} reaches the other machines of that network, and nothing else.`
    default:
      return "Its network reaches the internet and this host's loopback."
  }
}

/** The message about the network in the reply to a new machine. `modes` is what `findNetworkMode` returns. */
export const describeNetwork = (modes: string): string => modes.split(', ').map(describeMode).join(' ')
