import { isAbsolute, join } from 'node:path'
import type { Definition } from '../definition.ts'

type Disk = Definition['disks'][number]

export const definitionFile = 'machine.json'

/** A file of a machine. */
export interface MachineFile {
  /** Its name in an export, where all files are in one folder. Drivers never use this name for a file of their own. */
  readonly name: string
  /** Its path in the definition: absolute, or relative to the machine's folder. */
  readonly path: string
  /** Undefined for a file that is not a disk. */
  readonly disk?: Disk
}

const getDiskFileName = (at: number, { format }: Disk): string => `disk${at}.${format === 'raw' ? 'img' : format}`
const kernelName = 'kernel.bin'
const initrdName = 'initrd.bin'

/** Returns all files that a definition names: first the disks in their order, then kernel and initrd. */
export const listMachineFiles = ({ disks, kernel, initrd }: Definition): readonly MachineFile[] => [
  ...disks.map((disk, at) => ({ name: getDiskFileName(at, disk), path: disk.path, disk })),
  ...(kernel === undefined ? [] : [{ name: kernelName, path: kernel }]),
  ...(initrd === undefined ? [] : [{ name: initrdName, path: initrd }]),
]

const removeBase = (definition: Definition): Definition => {
  const { base: _, ...rest } = definition
  return rest
}

/** Returns the definition for an export: without base machine, with the file names of `listMachineFiles`. */
export const flattenDefinition = (definition: Definition): Definition => ({
  ...removeBase(definition),
  disks: definition.disks.map((disk, at) => ({
    path: getDiskFileName(at, disk),
    size: disk.size,
    format: disk.format,
  })),
  ...(definition.kernel !== undefined && { kernel: kernelName }),
  ...(definition.initrd !== undefined && { initrd: initrdName }),
})

/** Returns the absolute path of a file of the machine in `home`. */
export const resolveMachinePath = (home: string, path: string): string => (isAbsolute(path) ? path : join(home, path))
