import type { Forward, Network } from '../../machine-parts.ts'

/** The end of a network card on the host: of QEMU itself, a tap of the host, or a socket of passt. */
export type Link =
  | { readonly kind: 'tap'; readonly name: string }
  /** `path` is relative to the machine's folder. */
  | { readonly kind: 'socket'; readonly path: string }

/** The links of a machine's cards by their names. Cards of QEMU's own network have none. */
export type Links = ReadonlyMap<string, Link>

/** The back end of a network card as `-netdev` (as JSON) and the command `netdev_add` take it. */
export type Netdev = Readonly<{ type: string; id: string } & Record<string, unknown>>

/** Formats the end of a forward on the host as QEMU's monitor has it. */
export const formatHostEnd = ({
  protocol,
  host_address: address,
  host_port: port,
}: Pick<Forward, 'protocol' | 'host_address' | 'host_port'>): string => `${protocol}:${address}:${port}`

/** Formats a forward as a rule of QEMU. The guest's address is the one that QEMU's DHCP server gives it. */
export const formatRule = (forward: Forward): string => `${formatHostEnd(forward)}-:${forward.guest_port}`

/** The hub of a card has the number of the card. */
const getHub = (card: string): number => Number(card.replace(/^\D+/, ''))

/** The names in QEMU of what leads from a card to a socket, beside the back end that has the name of the card. */
export interface SocketParts {
  readonly socket: string
  readonly port: string
}

/** The names for the two sockets that a card can have at the same time: a dead one, and the one that takes its place. */
export const nameSocketParts = (card: string): readonly [SocketParts, SocketParts] => [
  { socket: `${card}-socket`, port: `${card}-port` },
  { socket: `${card}-socket-2`, port: `${card}-port-2` },
]

/**
 * Returns what leads from a card to its socket, in the order in which QEMU takes it. The card and the socket are ports of a hub,
 * because QEMU 7.2 does not connect a socket again, and gives a card no other back end: a new socket takes the place of the old
 * one at the hub, and the guest notices nothing.
 */
export const buildSocketParts = (
  card: string,
  path: string,
  { socket, port }: SocketParts = nameSocketParts(card)[0],
): readonly [Netdev, Netdev] => [
  { type: 'stream', id: socket, server: false, addr: { type: 'unix', path } },
  { type: 'hubport', id: port, hubid: getHub(card), netdev: socket },
]

/**
 * Returns the back ends of a card in the order in which QEMU takes them; the last one has the name of the card. `forwards` are
 * those of the machine: the caller passes them for one card only. The network of an isolated card drops all that the guest sends
 * to another address than that of QEMU's DHCP server; it has no IPv6, so that this rests on one protocol.
 */
export const buildNetdevs = (
  id: string,
  { mode }: Pick<Network, 'mode'>,
  { link, forwards }: { readonly link?: Link | undefined; readonly forwards: readonly Forward[] },
): readonly Netdev[] => {
  if (!link && mode !== undefined && mode !== 'isolated') throw new Error(`the card ${id} has no link for ${mode}`)
  if (link?.kind === 'tap') return [{ type: 'tap', id, ifname: link.name, script: 'no', downscript: 'no' }]
  if (link?.kind === 'socket') return [...buildSocketParts(id, link.path), { type: 'hubport', id, hubid: getHub(id) }]
  return [
    {
      type: 'user',
      id,
      ...(mode === 'isolated' && { restrict: true, ipv6: false }),
      ...(forwards.length > 0 && { hostfwd: forwards.map(forward => ({ str: formatRule(forward) })) }),
    },
  ]
}
