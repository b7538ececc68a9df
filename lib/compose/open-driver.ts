import { join } from 'node:path'
import type { Config } from './config.ts'
import { ServiceError } from '#lib/errors.ts'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import type { ConversionTools } from '#lib/images/convert/convert-to-qcow2.ts'
import type { OpenRegisteredImage } from '#lib/hypervisor/files/registered-image.ts'
import { findAccount } from '#lib/hypervisor/qemu/account.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { exists } from '#lib/platform/files.ts'
import type { HostFiles } from '#lib/platform/host-files.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'

interface Parts {
  readonly folder: string
  readonly hostFiles: HostFiles
  readonly openImage: OpenRegisteredImage
  readonly parts: ProgramParts
}

interface OpenedDriver {
  readonly driver: HypervisorDriver
  /** The kernel of the demo machine. Undefined if this driver has had machines in this state folder before. */
  readonly demoKernel: Uint8Array | undefined
  /** What converts images; undefined without QEMU. */
  readonly conversionTools: ConversionTools | undefined
}

/**
 * Creates the configured driver: with `auto` QEMU if it is installed, else the embedded one. Throws `unavailable` if the driver is
 * `qemu` and QEMU is not installed.
 */
export const openDriver = async (
  {
    driver: kind,
    serial_log_size,
    qemu_user,
    guest_host_access,
  }: Pick<Config, 'driver' | 'serial_log_size' | 'qemu_user' | 'guest_host_access'>,
  { folder, hostFiles, openImage, parts }: Parts,
): Promise<OpenedDriver> => {
  const log = getAreaLogger('hypervisor')
  const serialLogSize = serial_log_size * 2 ** 20
  const programs = kind === 'embedded' ? undefined : await findQemu()
  if (!programs && kind === 'qemu')
    throw new ServiceError(
      'unavailable',
      'The driver is qemu, but qemu-system-x86_64 and qemu-img are not on PATH; install QEMU or choose embedded.',
    )
  const driverFolder = join(folder, programs ? 'qemu' : 'embedded')
  const demoKernel = (await exists(driverFolder)) ? undefined : demoGuest
  if (programs) {
    const account = qemu_user === undefined ? undefined : await findAccount(qemu_user)
    const { recorder: recorderProgram } = parts
    const reachesLoopback = guest_host_access === 'allow'
    const options = {
      folder: driverFolder,
      programs,
      recorderProgram,
      serialLogSize,
      account,
      hostFiles,
      reachesLoopback,
      openImage,
      log,
    }
    // A program has one driver, and does not load the other one.
    const { createQemuDriver } = await import('#lib/hypervisor/qemu/driver.ts')
    return { driver: await createQemuDriver(options), demoKernel, conversionTools: { programs, account } }
  }
  const { createEmbeddedDriver } = await import('#lib/hypervisor/embedded/driver.ts')
  return {
    driver: createEmbeddedDriver({
      folder: driverFolder,
      startWorker: parts.startWorker,
      readProgram: () => parts.readAsset('v86.wasm'),
      serialLogSize,
      hostFiles,
      log,
    }),
    demoKernel,
    conversionTools: undefined,
  }
}
