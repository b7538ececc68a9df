import type { Definition } from '../../definition.ts'
import { buildDevice } from './options.ts'
import { buildScreenArguments } from './screen.ts'

/** The slots for parts that are plugged while the machine runs. The bus of the board itself takes none. */
export const portCount = 8

/** Describes the place of a part: in a slot, or on the board. */
export const describeSlot = (port: number | undefined): { readonly bus: string } | undefined =>
  port === undefined ? undefined : { bus: `port${port}` }

const buildPort = (port: number): string[] =>
  buildDevice({
    driver: 'pcie-root-port',
    id: `port${port}`,
    bus: 'pcie.0',
    chassis: port + 1,
    addr: `0x10.${port}`,
    multifunction: true,
  })

/** The devices that every machine has, at places of their own, so that saved memory finds them there. */
const devices = [
  { driver: 'virtio-rng-pci', id: 'rng0', rng: 'random', addr: '0x4' },
  { driver: 'virtio-balloon-pci', id: 'balloon0', addr: '0x5' },
  { driver: 'virtio-scsi-pci', id: 'scsi0', num_queues: 1, addr: '0x6' },
  { driver: 'vmgenid', guid: 'auto' },
] as const

/** Returns the arguments of the devices on the board of a new machine. */
export const buildBoardArguments = ({ display = false }: Pick<Definition, 'display'>): string[] => [
  ...Array.from({ length: portCount }, (_, port) => buildPort(port)).flat(),
  ...['-object', 'rng-builtin,id=random'],
  ...devices.flatMap(buildDevice),
  ...(display ? buildScreenArguments() : []),
]
