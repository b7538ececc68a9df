import { join } from 'node:path'
import type { Config } from '#lib/config.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { exists } from '#lib/platform/files.ts'
import { logOf } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'

interface Parts {
  readonly folder: string
  readonly startWorker: StartWorker
}

interface Chosen {
  readonly driver: HypervisorDriver
  /** Whether this driver has never had machines here. */
  readonly firstStart: boolean
}

/** The one driver of this service: the configured one, or with `auto` QEMU where it is installed, else the embedded one. */
export const openDriver = async (
  { driver: wanted }: Pick<Config, 'driver'>,
  { folder, startWorker }: Parts,
): Promise<Chosen> => {
  const log = logOf('hypervisor')
  const programs = wanted === 'embedded' ? undefined : await findQemu()
  if (!programs && wanted === 'qemu')
    throw new ServiceError(
      'unavailable',
      'The driver is qemu, but qemu-system-x86_64 and qemu-img are not on PATH; install QEMU or choose embedded.',
    )
  const home = join(folder, programs ? 'qemu' : 'embedded')
  const firstStart = !(await exists(home))
  if (programs) {
    const { createQemuDriver } = await import('#lib/hypervisor/qemu/driver.ts')
    return { driver: await createQemuDriver({ folder: home, programs, log }), firstStart }
  }
  const { createEmbeddedDriver } = await import('#lib/hypervisor/embedded/driver.ts')
  return { driver: createEmbeddedDriver({ folder: home, startWorker, log }), firstStart }
}
