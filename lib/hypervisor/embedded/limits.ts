import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'

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

const readStart = async ({ handle }: OpenFile, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
  return buffer.subarray(0, bytesRead)
}

/** Returns the size of a raw image in bytes. Throws `unsupported` for another format or a larger disk, and `invalid`. */
export const inspectDisk = async (file: OpenFile): Promise<number> => {
  if ((await readStart(file, 4)).toString('latin1') === 'QFI\xfb')
    throw new ServiceError('unsupported', `${file.path} is a qcow2 image; the embedded driver uses raw images only.`)
  checkDiskSize(file.size, file.path)
  return file.size
}

/** Checks that the emulator can boot a kernel. Without a BIOS it boots only multiboot (version 1). Throws `invalid`. */
export const inspectKernel = async (file: OpenFile): Promise<void> => {
  // The header is aligned in the first 8 KiB: a magic number, flags, and a checksum that makes their sum zero.
  const bytes = await readStart(file, 8192)
  for (let at = 0; at + 12 <= bytes.length; at += 4) {
    const [magic, flags, checksum] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)]
    if (magic === 0x1badb002 && (magic + flags + checksum) % 2 ** 32 === 0) return
  }
  throw new ServiceError(
    'invalid',
    `${file.path} is not a multiboot kernel, the only kind that the embedded driver boots.`,
  )
}

/** Returns the kernel of a machine. Throws `invalid` if it has none. */
export const requireKernel = (kernel: string | undefined): string => {
  if (kernel !== undefined) return kernel
  throw new ServiceError('invalid', 'The embedded driver has no BIOS, so a machine needs a multiboot kernel: name one.')
}
