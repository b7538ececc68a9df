import { type FileHandle, open } from 'node:fs/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'

/** MB of memory that a machine can have: below, no guest fits; above, the emulator has no room for more. */
const memory = { least: 2, most: 1024 }
const megabyte = 1 << 20
/** A disk is held in memory while its machine runs. */
const largestDisk = 64 * megabyte
const sector = 512

/** Refuses what an emulated PC cannot have; memory in MB. Throws `unsupported` and `invalid`. */
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
  if (machine.memory < memory.least || machine.memory > memory.most)
    throw new ServiceError(
      'invalid',
      `${machine.memory} MB of memory is out of bounds: the embedded driver gives from ${memory.least} to ${memory.most} MB.`,
    )
}

/** Refuses a disk of so many bytes. Throws `unsupported` and `invalid`. */
export const checkDiskSize = (size: number, what: string): void => {
  if (size > largestDisk)
    throw new ServiceError(
      'unsupported',
      `${what} has ${Math.ceil(size / megabyte)} MB: disks over ${largestDisk / megabyte} MB are unsupported by the embedded driver.`,
    )
  if (size < sector || size % sector !== 0)
    throw new ServiceError('invalid', `${what} has ${size} bytes; a disk has one or more sectors of ${sector} bytes.`)
}

const withFile = async <T>(path: string, flags: string, look: (file: FileHandle) => Promise<T>): Promise<T> => {
  let file: FileHandle
  try {
    file = await open(path, flags)
  } catch (error) {
    throw new ServiceError('invalid', `${path} cannot be used: ${messageOf(error)}`, { cause: error })
  }
  try {
    if (!(await file.stat()).isFile()) throw new ServiceError('invalid', `${path} is not a file.`)
    return await look(file)
  } finally {
    await file.close()
  }
}

const start = async (file: FileHandle, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
  return buffer.subarray(0, bytesRead)
}

/** The size in bytes of the raw image `path`. Throws `unsupported` for other formats and large ones, `invalid`. */
export const inspectDisk = (path: string): Promise<number> =>
  withFile(path, 'r+', async file => {
    if ((await start(file, 4)).toString('latin1') === 'QFI\xfb')
      throw new ServiceError('unsupported', `${path} is a qcow2 image; the embedded driver uses raw images only.`)
    const { size } = await file.stat()
    checkDiskSize(size, path)
    return size
  })

/** Refuses a kernel that the emulator cannot boot: there is no BIOS, so nothing but multiboot (version 1). Throws `invalid`. */
export const inspectKernel = (path: string): Promise<void> =>
  withFile(path, 'r', async file => {
    // Somewhere in the first 8 KiB, aligned: a magic number, flags, and what makes their sum zero.
    const bytes = await start(file, 8192)
    for (let at = 0; at + 12 <= bytes.length; at += 4) {
      const [magic, flags, checksum] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)]
      if (magic === 0x1badb002 && (magic + flags + checksum) % 2 ** 32 === 0) return
    }
    throw new ServiceError(
      'invalid',
      `${path} is not a multiboot kernel, the only kind that the embedded driver boots.`,
    )
  })

/** Refuses a machine that names no kernel. Throws `invalid`. */
export const requireKernel = (kernel: string | undefined): string => {
  if (kernel !== undefined) return kernel
  throw new ServiceError('invalid', 'The embedded driver has no BIOS, so a machine needs a multiboot kernel: name one.')
}

/** Refuses an initial RAM disk that cannot be read. Throws `invalid`. */
export const inspectFile = (path: string): Promise<void> => withFile(path, 'r', async () => {})
