import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { ServiceError } from '#lib/errors.ts'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { Network, NetworkMode } from '#lib/hypervisor/machine-parts.ts'
import { createCards, findForwardCard, maxNetworks } from '#lib/hypervisor/network-modes.ts'
import { maxForwards, NewForward } from '../forwards/schemas.ts'

/** The members of a request for a machine that are about its network. */
export const networkMembers = {
  network: NetworkMode.optional().meta({
    description: 'The mode of its only network card: isolated, nat, bridge:NAME or network:NAME; isolated if left out',
  }),
  networks: z
    .array(knownObject('a network card', { mode: NetworkMode, card: Network.shape.card }))
    .max(maxNetworks)
    .optional()
    .meta({ description: 'Its network cards, in place of `network`; an empty list gives it none' }),
  forwards: z
    .array(NewForward)
    .max(maxForwards)
    .optional()
    .meta({ description: 'Ports of the host that lead to ports of the guest' }),
}

const NetworkRequest = z.object(networkMembers)

/**
 * Returns the cards and forwards that a request asks for. Throws `invalid` for what contradicts itself, and `unsupported` for
 * what machines of this driver cannot have.
 */
export const readNetworkRequest = (
  { network, networks, forwards = [] }: z.infer<typeof NetworkRequest>,
  { kind, platform, setForwards }: Pick<HypervisorDriver, 'kind' | 'platform' | 'setForwards'>,
): Pick<NewMachine, 'networks' | 'forwards'> => {
  if (network !== undefined && networks !== undefined)
    throw new ServiceError('invalid', 'network and networks: give one of them; network is the mode of an only card.')
  const isAskedFor = network !== undefined || (networks?.length ?? 0) > 0
  if (platform.networkCard === '' && isAskedFor)
    throw new ServiceError('unsupported', `Network cards are unsupported by the ${kind} driver; leave them out.`)
  if (forwards.length > 0 && !setForwards)
    throw new ServiceError('unsupported', `Forwards are unsupported by the ${kind} driver; leave them out.`)
  const cards = createCards(networks ?? [{ mode: network ?? 'isolated' }])
  if (forwards.length > 0 && findForwardCard(cards) === undefined)
    throw new ServiceError('invalid', 'forwards: they need a card with the mode isolated or nat; add one.')
  return { networks: cards, ...(forwards.length > 0 && { forwards }) }
}
