import { join } from 'node:path'
import type { Config } from '#lib/config.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { logOf } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'

interface Parts {
  readonly folder: string
  readonly startWorker: StartWorker
}

/** The one driver of this service: the configured one, or with `auto` QEMU where it is installed, else the embedded one. */
export const openDriver = async (
  config: Pick<Config, 'driver'>,
  { folder, startWorker }: Parts,
): Promise<HypervisorDriver> => {
  const log = logOf('hypervisor')
  if (config.driver !== 'embedded') {
    const programs = await findQemu()
    if (programs) {
      const { createQemuDriver } = await import('#lib/hypervisor/qemu/driver.ts')
      return createQemuDriver({ folder: join(folder, 'qemu'), programs, log })
    }
    if (config.driver === 'qemu')
      throw new ServiceError(
        'unavailable',
        'The driver is qemu, but qemu-system-x86_64 and qemu-img are not on PATH; install QEMU or choose embedded.',
      )
  }
  const { createEmbeddedDriver } = await import('#lib/hypervisor/embedded/driver.ts')
  return createEmbeddedDriver({ folder: join(folder, 'embedded'), startWorker, log })
}
