import type { NetworkMode } from '#lib/hypervisor/definition.ts'
import type { MachineView, Platform } from '#lib/hypervisor/driver.ts'

/**
 * What the machine's network leads to; undefined where it has no card. `open` is the network of machines from before there
 * were modes.
 */
export const networkModeOf = (
  { definition: { networks } }: Pick<MachineView, 'definition'>,
  { networkCard }: Pick<Platform, 'networkCard'>,
): NetworkMode | 'open' | undefined => {
  if (networkCard === '' || networks.length === 0) return undefined
  return networks.some(({ mode }) => mode === undefined) ? 'open' : networks[0]!.mode
}

/** What is wrong with a machine, in words: what its driver says, else that its network leads where none should. */
export const problemOf = (view: MachineView, platform: Platform): string | undefined =>
  view.problem ?? (networkModeOf(view, platform) === 'open' ? "reaches the host's loopback" : undefined)

/** What who creates a machine is told of a network, for each mode. */
export const networkMessages: Readonly<Record<NetworkMode | 'open', string>> = {
  isolated: 'Its network is isolated: it reaches neither the internet nor this host.',
  open: "Its network reaches the internet and this host's loopback.",
}
