import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import { readStart } from '../files/file-start.ts'

/** Limits of a machine's memory in MB: no guest fits into less, and the emulator cannot address more. */
const memory = { min: 2, max: 1024 }
const megabyte = 1 << 20
/** Bytes. A running machine holds its disk in memory. */
const maxDiskSize = 64 * megabyte
const sector = 512

/**
 * Checks the hardware of a machine against the limits of the emulated PC; memory is in MB. Throws `unsupported` and `invalid`.
 */
export const checkHardware = (machine: { cpus: number; memory: number; disks: readonly unknown[] }): void => {
  if (machine.cpus > 1)
    throw new ServiceError(
      'unsupported',
      `${machine.cpus} processors are unsupported by the embedded driver; it emulates 1.`,
    )
  if (machine.disks.length > 1)
    throw new ServiceError(
      'unsupported',
      `${machine.disks.length} disks are unsupported by the embedded driver; give at most 1.`,
    )
  if (machine.memory < memory.min || machine.memory > memory.max)
    throw new ServiceError(
      'invalid',
      `${machine.memory} MB of memory is out of bounds: the embedded driver gives from ${memory.min} to ${memory.max} MB.`,
    )
}

/** Checks the size of a disk in bytes; `label` names it in the message. Throws `unsupported` and `invalid`. */
export const checkDiskSize = (size: number, label: string): void => {
  if (size > maxDiskSize)
    throw new ServiceError(
      'unsupported',
      `${label} has ${Math.ceil(size / megabyte)} MB: disks over ${maxDiskSize / megabyte} MB are unsupported by the embedded driver.`,
    )
  if (size < sector || size % sector !== 0)
    throw new ServiceError('invalid', `${label} has ${size} bytes; a disk has one or more sectors of ${sector} bytes.`)
}

/** Returns the size of a raw image in bytes. Throws `unsupported` for another format or a larger disk, and `invalid`. */
export const inspectDisk = async (file: OpenFile): Promise<number> => {
  if ((await readStart(file, 4)).toString('latin1') === 'QFI\xfb')
    throw new ServiceError('unsupported', `${file.path} is a qcow2 image; the embedded driver uses raw images only.`)
  checkDiskSize(file.size, file.path)
  return file.size
}
