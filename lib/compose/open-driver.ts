import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from './config.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { findAccount } from '#lib/hypervisor/qemu/account.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { exists } from '#lib/platform/files.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { logOf } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'

interface Parts {
  readonly folder: string
  /** The program's own file, beside which the recorder's is. */
  readonly entry: URL
  readonly hostFiles: HostFiles
  readonly startWorker: StartWorker
}

interface Chosen {
  readonly driver: HypervisorDriver
  /** Whether this driver has never had machines here. */
  readonly firstStart: boolean
}

/** The one driver of this service: the configured one, or with `auto` QEMU where it is installed, else the embedded one. */
export const openDriver = async (
  { driver: wanted, serial_log_size, qemu_user }: Pick<Config, 'driver' | 'serial_log_size' | 'qemu_user'>,
  { folder, entry, hostFiles, startWorker }: Parts,
): Promise<Chosen> => {
  const log = logOf('hypervisor')
  const serialLogSize = serial_log_size * 2 ** 20
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
    const recorderProgram = fileURLToPath(new URL('recorder.mjs', entry))
    const account = qemu_user === undefined ? undefined : await findAccount(qemu_user)
    const options = { folder: home, programs, recorderProgram, serialLogSize, account, hostFiles, log }
    return { driver: await createQemuDriver(options), firstStart }
  }
  const { createEmbeddedDriver } = await import('#lib/hypervisor/embedded/driver.ts')
  return { driver: createEmbeddedDriver({ folder: home, startWorker, serialLogSize, hostFiles, log }), firstStart }
}
