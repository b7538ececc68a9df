import { isAbsolute, join } from 'node:path'
import { type Definition, PortableDefinition } from '../definition.ts'

type Disk = Definition['disks'][number]

/** The file with the definition of a machine, in its folder and in a pack. */
export const definitionFile = 'machine.json'

/** A file of a machine. */
export interface MachineFile {
  /** Its name in an export, where all files are in one folder. Drivers never use this name for a file of their own. */
  readonly name: string
  /** Its path in the definition: absolute, or relative to the machine's folder. */
  readonly path: string
  /** Undefined for a file that is not a disk. */
  readonly disk?: Disk
  /** True for a file that the guest can change. */
  readonly isWritable: boolean
}

const getDiskFileName = (at: number, { format }: Disk): string => `disk${at}.${format === 'raw' ? 'img' : format}`
const kernelName = 'kernel.bin'
const initrdName = 'initrd.bin'
/** The variables of a UEFI firmware, a qcow2 image. */
export const firmwareFile = 'firmware.qcow2'

/**
 * Returns all files that a machine needs: first the disks in their order, then kernel, initrd and firmware variables, which are in the
 * file `variables`.
 */
export const listMachineFiles = (
  { disks, kernel, initrd, firmware }: Definition,
  variables = firmwareFile,
): readonly MachineFile[] => [
  ...disks.map((disk, at) => ({ name: getDiskFileName(at, disk), path: disk.path, disk, isWritable: true })),
  ...(kernel === undefined ? [] : [{ name: kernelName, path: kernel, isWritable: false }]),
  ...(initrd === undefined ? [] : [{ name: initrdName, path: initrd, isWritable: false }]),
  ...(firmware === 'uefi' ? [{ name: firmwareFile, path: variables, isWritable: true }] : []),
]

/**
 * Returns the definition for an export, with the file names of `listMachineFiles`: without base machine, and without what the
 * machine is on this host. The members always have the same order.
 */
export const flattenDefinition = (definition: Definition): Definition =>
  PortableDefinition.parse({
    ...definition,
    disks: definition.disks.map((disk, at) => ({ ...disk, path: getDiskFileName(at, disk) })),
    ...(definition.kernel !== undefined && { kernel: kernelName }),
    ...(definition.initrd !== undefined && { initrd: initrdName }),
  })

/** Returns the absolute path of a file of the machine in `home`. */
export const resolveMachinePath = (home: string, path: string): string => (isAbsolute(path) ? path : join(home, path))
