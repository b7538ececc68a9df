import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import { isMultiboot, readStart } from '../files/file-start.ts'
import { kernelHeaderSize, parseKernelHeader, type KernelHeader } from './linux/kernel-header.ts'

const megabyte = 1 << 20
/** MB that a Linux kernel needs to start its first program, beside itself and its initial RAM disk. */
const spareMemory = 8

interface Machine {
  /** MB */
  readonly memory: number
  readonly cmdline?: string | undefined
}

/** Checks that a machine can boot a Linux kernel. Throws `unsupported` and `invalid`. */
const checkLinux = (
  path: string,
  { is64Bit, cmdlineSize, end }: KernelHeader,
  { memory, cmdline = '' }: Machine,
  initrdSize: number,
): void => {
  if (is64Bit)
    throw new ServiceError(
      'unsupported',
      `${path} is a 64-bit kernel: the embedded driver emulates a 32-bit processor. Use a kernel for i386.`,
    )
  const length = Buffer.byteLength(cmdline)
  if (length > cmdlineSize)
    throw new ServiceError('invalid', `cmdline has ${length} bytes; the kernel ${path} takes at most ${cmdlineSize}.`)
  const needed = Math.ceil((end + initrdSize) / megabyte) + spareMemory
  if (memory < needed)
    throw new ServiceError(
      'invalid',
      `${memory} MB of memory are too few: the kernel ${path} needs ${needed} MB with its initial RAM disk.`,
    )
}

/**
 * Checks that a machine can boot a kernel, which its header says the kind of: multiboot (version 1) or Linux for i386. Returns the
 * kind. Throws `invalid` and `unsupported`.
 */
export const inspectKernel = async (
  kernel: OpenFile,
  machine: Machine,
  initrd: OpenFile | undefined,
): Promise<'multiboot' | 'linux'> => {
  if (await isMultiboot(kernel)) return 'multiboot'
  const header = parseKernelHeader(await readStart(kernel, kernelHeaderSize))
  if (header) {
    checkLinux(kernel.path, header, machine, initrd?.size ?? 0)
    return 'linux'
  }
  throw new ServiceError(
    'invalid',
    `${kernel.path} is not a multiboot kernel and not a Linux kernel (bzImage): the embedded driver boots no others.`,
  )
}

/** Returns the kernel of a machine. Throws `invalid` if it has none. */
export const requireKernel = (kernel: string | undefined): string => {
  if (kernel !== undefined) return kernel
  throw new ServiceError(
    'invalid',
    'The embedded driver has no BIOS, so a machine needs a kernel: name a multiboot kernel or a Linux kernel for i386.',
  )
}
