import { ServiceError } from '#lib/errors.ts'
import { bounds } from '#lib/hypervisor/definition.ts'
import type { Host } from './record.ts'

/** What of a host a machine can ask for: memory in MB. */
export type Share = Partial<Pick<Host, 'cpus' | 'memory'>>

/**
 * Refuses a machine that asks for more than the whole host has, which could not start it, or than any machine can have. Throws
 * `invalid`.
 */
export const refuseBeyondHost = (host: Host, { cpus = 0, memory = 0 }: Share): void => {
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
