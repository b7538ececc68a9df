import { isAbsolute, join } from 'node:path'
import type { Definition } from './definition.ts'

type Disk = Definition['disks'][number]

export const definitionFile = 'machine.json'

/** A file that a machine is made of. */
export interface MachineFile {
  /** What it is called where all files of the machine are in one folder: never a name that a driver uses for its own. */
  readonly name: string
  /** Where its definition says that it is: absolute, or relative to the machine's folder. */
  readonly path: string
  /** Left out of what is no disk. */
  readonly disk?: Disk
}

const diskName = (at: number, { format }: Disk): string => `disk${at}.${format === 'raw' ? 'img' : format}`
const kernelName = 'kernel.bin'
const initrdName = 'initrd.bin'

/** All files that a definition names; its disks come first, in their order. */
export const filesOf = ({ disks, kernel, initrd }: Definition): readonly MachineFile[] => [
  ...disks.map((disk, at) => ({ name: diskName(at, disk), path: disk.path, disk })),
  ...(kernel === undefined ? [] : [{ name: kernelName, path: kernel }]),
  ...(initrd === undefined ? [] : [{ name: initrdName, path: initrd }]),
]

const alone = (definition: Definition): Definition => {
  const { base: _, ...rest } = definition
  return rest
}

/** The definition of a machine that stands for itself, with its files beside it by the names of `filesOf`. */
export const flattened = (definition: Definition): Definition => ({
  ...alone(definition),
  disks: definition.disks.map((disk, at) => ({ ...disk, path: diskName(at, disk) })),
  ...(definition.kernel !== undefined && { kernel: kernelName }),
  ...(definition.initrd !== undefined && { initrd: initrdName }),
})

/** Where a file of the machine in `home` is, absolute. */
export const pathIn = (home: string, path: string): string => (isAbsolute(path) ? path : join(home, path))
