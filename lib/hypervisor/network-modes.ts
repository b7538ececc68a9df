import { ServiceError } from '#lib/errors.ts'
import { generateMac } from './mac.ts'
import type { Network, NetworkMode } from './machine-parts.ts'
import { generatePartName, getCardName } from './parts.ts'

/** The most cards of a machine. Each needs a slot of its own. */
export const maxNetworks = 8

/** The kind of a mode, and the name in it: `bridge:br0` is a `bridge` with the name `br0`. */
export const parseMode = (mode: NetworkMode): { readonly kind: string; readonly name: string } => {
  const [kind = '', name = ''] = mode.split(':')
  return { kind, name }
}

/**
 * Returns the name of the card that forwards and tunnels go over: the one on the network inside the hypervisor. Undefined if the
 * machine has none.
 */
export const findForwardCard = (networks: readonly Network[]): string | undefined => {
  const at = networks.findIndex(({ mode }) => mode === undefined || mode === 'isolated')
  const card = networks[at]
  return card && getCardName(card, at)
}

/** Returns a new card with the first free name. */
export const addCard = (
  networks: readonly Network[],
  mode: NetworkMode,
  card?: Network['card'],
): Network & { readonly name: string } => ({
  mac: generateMac(),
  mode,
  name: generatePartName('net', networks.map(getCardName)),
  ...(card && { card }),
})

/**
 * Throws `invalid` if a machine cannot have these cards together: it has one `nat` card at most, because the address of such a
 * card is the same in all machines.
 */
export const assertNetworks = (networks: readonly Pick<Network, 'mode'>[]): void => {
  if (networks.length > maxNetworks)
    throw new ServiceError('invalid', `networks: a machine can have ${maxNetworks} cards at most.`)
  if (networks.filter(({ mode }) => mode === 'nat').length > 1)
    throw new ServiceError('invalid', 'networks: a machine can have one nat card at most.')
}

/**
 * Returns the cards of a machine whose first card, and those without a mode, get the mode `mode`. For `nat` the isolated card
 * stays, and a card for outgoing traffic joins it. For any other mode such a card leaves.
 */
export const setNetworkMode = (networks: readonly Network[], mode: NetworkMode): readonly Network[] => {
  const others = networks.filter(card => card.mode !== 'nat')
  const own = mode === 'nat' ? 'isolated' : mode
  const changed =
    others.length === 0
      ? [addCard([], own)]
      : others.map((card, at) => (at === 0 || card.mode === undefined ? { ...card, mode: own } : card))
  if (mode !== 'nat') return changed
  const nat = networks.find(card => card.mode === 'nat') ?? addCard(changed, 'nat', others[0]?.card)
  return [...changed, nat]
}

/**
 * Returns the cards that a request asks for. A `nat` card without an isolated one gets one, in front of the others. Throws as
 * `assertNetworks` does.
 */
export const createCards = (requests: readonly Pick<Network, 'mode' | 'card'>[]): readonly Network[] => {
  const needsIsolated = requests.some(({ mode }) => mode === 'nat') && !requests.some(({ mode }) => mode === 'isolated')
  const complete: readonly Pick<Network, 'mode' | 'card'>[] = needsIsolated
    ? [{ mode: 'isolated' }, ...requests]
    : requests
  assertNetworks(complete)
  const cards: Network[] = []
  for (const { mode = 'isolated', card } of complete) cards.push(addCard(cards, mode, card))
  return cards
}
