import type { Definition } from '../../definition.ts'
import type { Network } from '../../machine-parts.ts'
import { findForwardCard } from '../../network-modes.ts'
import { getCardModel, getCardName } from '../../parts.ts'
import { buildNetdevs, type Link, type Links, type Netdev } from '../network/netdev.ts'
import { describeSlot } from './board.ts'
import { numberBootDevices } from './boot-order.ts'
import { buildDevice, type Device } from './options.ts'

/** Describes where a card of a machine leads, as `buildNetdevs` does. `link` is its end on the host, if it has one. */
export const describeNetdevs = (
  { networks, forwards = [] }: Pick<Definition, 'networks' | 'forwards'>,
  name: string,
  card: Network,
  link: Link | undefined,
): readonly Netdev[] => buildNetdevs(name, card, { link, forwards: name === findForwardCard(networks) ? forwards : [] })

/** Formats an option with the members that its value has: `addr.type=unix,addr.path=…`. */
const formatOption = (name: string, value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(({ str }) => formatOption(name, str))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([member, inner]) => formatOption(`${name}.${member}`, inner))
  return [`${name}=${typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)}`]
}

/** QEMU takes JSON for this option only since version 7.2. */
const formatNetdev = ({ type, ...options }: Netdev): string =>
  [type, ...Object.entries(options).flatMap(([name, value]) => formatOption(name, value))].join(',')

/** Describes a card as a device. Only a card that the machine boots from needs the program of its ROM. */
export const describeCard = (
  machine: Pick<Definition, 'machine_type'>,
  id: string,
  card: Network,
  bootindex?: number,
): Device => ({
  driver: getCardModel(machine, card) === 'virtio' ? 'virtio-net-pci' : 'e1000',
  id,
  netdev: id,
  mac: card.mac,
  ...describeSlot(card.port),
  ...(bootindex === undefined ? { romfile: '' } : { bootindex }),
})

/** Returns the arguments of all network cards. `links` are the ends on the host of the cards that have one. */
export const buildNetworkArguments = (machine: Definition, links: Links): string[] => {
  const bootPlaces = numberBootDevices(machine)
  return machine.networks.flatMap((card, at) => {
    const name = getCardName(card, at)
    return [
      ...describeNetdevs(machine, name, card, links.get(name)).flatMap(netdev => ['-netdev', formatNetdev(netdev)]),
      ...buildDevice(describeCard(machine, name, card, bootPlaces.get(name))),
    ]
  })
}
