import { isFault, ServiceError } from '#lib/errors.ts'
import { bounds, type Definition, type NewDisk } from '#lib/hypervisor/definition.ts'
import type { Host } from './record.ts'

/** The CPUs and the memory, in MB, that a machine asks for. */
export type RequestedCapacity = Partial<Pick<Host, 'cpus' | 'memory'>>

/**
 * Throws `invalid` if a machine asks for more than the whole host has, which could not start it, or than a machine can have.
 */
export const assertWithinHost = (host: Host, { cpus = 0, memory = 0 }: RequestedCapacity): void => {
  if (cpus > host.cpus)
    throw new ServiceError('invalid', `cpus: ${cpus} are more than the host has, which is ${host.cpus}; ask for fewer.`)
  if (memory > host.memory)
    throw new ServiceError(
      'invalid',
      `memory: ${memory} MB are more than the host has, which is ${host.memory} MB; ask for less.`,
    )
  if (cpus > bounds.cpus) throw new ServiceError('invalid', `cpus: a machine can have ${bounds.cpus} at most.`)
  if (memory > bounds.memory)
    throw new ServiceError('invalid', `memory: a machine can have ${bounds.memory} MB at most.`)
}

/** Throws `conflict` if a machine that came from another host, or was made when this one was larger, has more than the host. */
export const assertStartable = (host: Host, { name, cpus, memory }: Definition): void => {
  try {
    assertWithinHost(host, { cpus, memory })
  } catch (error) {
    if (!isFault(error, 'invalid')) throw error
    throw new ServiceError('conflict', `${name} cannot start. ${error.message} Change the machine with set.`)
  }
}

const megabyte = 2 ** 20

/** Returns the bytes that the disks of a new machine can grow to. Images in place are not in the folder of the machine. */
export const sumNewDisks = (disks: readonly NewDisk[]): number =>
  disks.reduce((sum, disk) => sum + ('image' in disk ? disk.size : 'size' in disk ? disk.size * megabyte : 0), 0)

/** Returns the bytes that the own disks of a machine can grow to. */
export const sumOwnDisks = ({ disks }: Pick<Definition, 'disks'>): number =>
  disks.reduce((sum, { path, size }) => sum + (path.startsWith('/') ? 0 : size), 0)

/**
 * Throws `invalid` if the disks of one machine together are larger than the whole file system, in MB, which could never hold
 * them. They take space only when the guest writes, so they may be larger than what is free now.
 */
export const assertDisksFit = (fileSystemSize: number, bytes: number): void => {
  if (bytes > fileSystemSize * megabyte)
    throw new ServiceError(
      'invalid',
      `disks: ${Math.ceil(bytes / megabyte)} MB are more than the file system of the machines has, which is ${fileSystemSize} MB; ask for less.`,
    )
}
