import { Definition } from './definition.ts'
import type { CdRom, Disk, Network } from './machine-parts.ts'

/** Returns the name of a disk at its place among the disks of its machine. */
export const getDiskName = ({ name }: Pick<Disk, 'name'>, at: number): string => name ?? `hdd${at}`

/** Returns the name of a network card at its place among the cards of its machine. */
export const getCardName = ({ name }: Pick<Network, 'name'>, at: number): string => name ?? `net${at}`

/** Maximum number of disks of the machine type `pc` that are IDE ones by themselves. Old guests can boot from IDE too. */
const ideDisks = 4

type Board = Pick<Definition, 'machine_type'>

/** True for a machine with the hardware of new machines: PCI Express, virtio, memory that other processes can share. */
export const isModern = ({ machine_type }: Board): boolean => machine_type === 'q35'

/** Returns the bus of a disk at its place among the disks of its machine. */
export const getDiskBus = (machine: Board, { bus }: Pick<Disk, 'bus'>, at: number): 'virtio' | 'ide' =>
  bus ?? (!isModern(machine) && at < ideDisks ? 'ide' : 'virtio')

/** Returns the bus of a CD-ROM drive. */
export const getDriveBus = (machine: Board, { bus }: Pick<CdRom, 'bus'>): 'virtio' | 'ide' =>
  bus ?? (isModern(machine) ? 'virtio' : 'ide')

/** Returns the model of a network card. */
export const getCardModel = (machine: Board, { card }: Pick<Network, 'card'>): 'virtio' | 'e1000' =>
  card ?? (isModern(machine) ? 'virtio' : 'e1000')

/** The classes of devices that the firmware of a machine without an order of its own tries: never its network. */
const defaultBootOrder = ['hdd', 'cdrom'] as const

/** Returns the names of the devices in the order in which the firmware tries them. */
export const listBootDevices = ({
  disks,
  networks,
  cdroms = [],
  boot_order = [...defaultBootOrder],
}: Pick<Definition, 'disks' | 'networks' | 'cdroms' | 'boot_order'>): readonly string[] => {
  const names = { hdd: disks.map(getDiskName), net: networks.map(getCardName), cdrom: cdroms.map(({ name }) => name) }
  return boot_order.flatMap(kind => names[kind])
}

/** Returns the first free name of a kind of parts: `hdd0`, `hdd1`, … */
export const generatePartName = (kind: 'hdd' | 'net' | 'cdrom', taken: readonly string[]): string => {
  let at = 0
  while (taken.includes(`${kind}${at}`)) at += 1
  return `${kind}${at}`
}

/** Returns the definition with a name for every disk and card, so that they keep it when others are removed. */
export const nameParts = (definition: Definition): Definition => ({
  ...definition,
  disks: definition.disks.map((disk, at) => ({ ...disk, name: getDiskName(disk, at) })),
  networks: definition.networks.map((card, at) => ({ ...card, name: getCardName(card, at) })),
})

/** The members of a definition that describe hardware. The others are known to the service alone. */
const hardware = [
  'cpus',
  'memory',
  'memory_modules',
  'disks',
  'detached_disks',
  'networks',
  'kernel',
  'initrd',
  'cmdline',
  'machine_type',
  'firmware',
  'display',
  'max_memory',
  'max_cpus',
  'boot_order',
  'cdroms',
  'forwards',
  'shared_folders',
  'limits',
] as const satisfies readonly (keyof Definition)[]
export type HardwareMember = (typeof hardware)[number]

/** Returns the hardware members in which two definitions of a machine differ. */
export const listChangedHardware = (current: Definition, next: Definition): readonly HardwareMember[] => {
  const [before, after] = [nameParts(current), nameParts(next)]
  return hardware.filter(member => JSON.stringify(before[member]) !== JSON.stringify(after[member]))
}

/** Returns the definition of a machine with the hardware of another definition of it. */
export const pickHardware = (machine: Definition, source: Definition): Definition => {
  const others = Object.entries(machine).filter(([member]) => !hardware.some(one => one === member))
  const parts = hardware.flatMap(member => (source[member] === undefined ? [] : [[member, source[member]] as const]))
  return Definition.parse(Object.fromEntries([...others, ...parts]))
}
