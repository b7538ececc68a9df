import { ServiceError } from '#lib/errors.ts'
import { bounds } from '#lib/hypervisor/definition.ts'
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
