import type { CdRom } from '../../machine-parts.ts'
import { getDriveBus } from '../../parts.ts'
import type { ResolvedDefinition } from '../attached-files.ts'
import { numberBootDevices } from './boot-order.ts'
import { buildDevice, type Device } from './options.ts'

/** Returns the name of the block node with the medium in a drive. */
export const getMediumName = (drive: string): string => `${drive}-medium`

/** Describes an ISO file as QEMU opens it. */
export const describeMedium = (drive: string, path: string) => ({
  'node-name': getMediumName(drive),
  driver: 'raw',
  'read-only': true,
  file: { driver: 'file', filename: path, 'read-only': true },
})

/** Describes a drive as a device, with the medium that it starts with. `place` is that of an IDE drive. */
export const describeDrive = ({ name, path }: CdRom, bootindex?: number, place?: object): Device => ({
  id: name,
  ...(path !== undefined && { drive: getMediumName(name) }),
  ...(bootindex !== undefined && { bootindex }),
  ...(place
    ? { driver: 'ide-cd', ...place }
    : { driver: 'scsi-cd', bus: 'scsi0.0', 'scsi-id': Number(name.replace(/^\D+/, '')) }),
})

/** Returns the arguments of all CD-ROM drives. `nextIdePlace` returns the next free place for an IDE drive. */
export const buildCdRomArguments = (machine: ResolvedDefinition, nextIdePlace: () => object): string[] => {
  const bootPlaces = numberBootDevices(machine)
  return (machine.cdroms ?? []).flatMap(drive => {
    const { name, path } = drive
    const place = getDriveBus(machine, drive) === 'ide' ? nextIdePlace() : undefined
    return [
      ...(path === undefined ? [] : ['-blockdev', JSON.stringify(describeMedium(name, path))]),
      ...buildDevice(describeDrive(drive, bootPlaces.get(name), place)),
    ]
  })
}
