import { getDiskBus, getDiskName } from '../../parts.ts'
import { buildBlockNode } from '../block-node.ts'
import type { ResolvedDefinition, ResolvedDisk } from '../attached-files.ts'
import { describeSlot } from './board.ts'
import { numberBootDevices } from './boot-order.ts'
import type { generateIdePlaces } from './ide.ts'
import { buildDevice, type Device } from './options.ts'

/** Describes the image of a disk as QEMU opens it. */
export const describeDiskNode = (name: string, { path, format, layers = [] }: ResolvedDisk) => ({
  'node-name': name,
  discard: 'unmap',
  // The headers do not count: an attached image has no backing file, and an own disk has exactly these layers.
  ...buildBlockNode(format, [path, ...layers]),
})

/** Describes a disk as a device. `place` is the bus of an IDE disk. */
export const describeDisk = (name: string, { port }: ResolvedDisk, bootindex?: number, place?: object): Device => ({
  drive: name,
  id: name,
  ...(bootindex !== undefined && { bootindex }),
  // QEMU stops the guest instead of reporting the error to it, so that a full disk of the host loses no data.
  werror: 'stop',
  rerror: 'stop',
  ...(place ? { driver: 'ide-hd', ...place } : { driver: 'virtio-blk-pci', ...describeSlot(port) }),
})

/** Returns the arguments of all disks. `nextIdePlace` returns the next free place for an IDE disk. */
export const buildDiskArguments = (
  machine: ResolvedDefinition,
  nextIdePlace: ReturnType<typeof generateIdePlaces>,
): string[] => {
  const bootPlaces = numberBootDevices(machine)
  return machine.disks.flatMap((disk, at) => {
    const name = getDiskName(disk, at)
    const place = getDiskBus(machine, disk, at) === 'ide' ? nextIdePlace() : undefined
    return [
      ...['-blockdev', JSON.stringify(describeDiskNode(name, disk))],
      ...buildDevice(describeDisk(name, disk, bootPlaces.get(name), place)),
    ]
  })
}
