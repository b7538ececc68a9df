import type { NetworkMode } from '#lib/hypervisor/definition.ts'
import type { MachineView, Platform } from '#lib/hypervisor/driver.ts'

/**
 * Returns the network mode of a machine, or undefined if it has no network card. Machines of versions without modes are `open`:
 * their network reaches the loopback of the host.
 */
export const findNetworkMode = (
  { definition: { networks } }: Pick<MachineView, 'definition'>,
  { networkCard }: Pick<Platform, 'networkCard'>,
): NetworkMode | 'open' | undefined => {
  if (networkCard === '' || networks.length === 0) return undefined
  return networks.some(({ mode }) => mode === undefined) ? 'open' : networks[0]!.mode
}

/** Returns the problem of a machine as text: the one that the driver reports, else that its network is open. */
export const describeProblem = (view: MachineView, platform: Platform): string | undefined =>
  view.problem ?? (findNetworkMode(view, platform) === 'open' ? "reaches the host's loopback" : undefined)

/** The message about the network in the reply to a new machine. */
export const networkMessages: Readonly<Record<NetworkMode | 'open', string>> = {
  isolated: 'Its network is isolated: it reaches neither the internet nor this host.',
  open: "Its network reaches the internet and this host's loopback.",
}
