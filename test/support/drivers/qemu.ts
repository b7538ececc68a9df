import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { createQemuDriver } from '#lib/hypervisor/qemu/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { createOwnProgram } from '#lib/platform/program-parts.ts'
import { anyFile } from '../host-files.ts'
import { refuseImage } from '../images.ts'

const isQemuInstalled = (): boolean => {
  try {
    execFileSync('qemu-system-x86_64', ['--version'], { stdio: 'ignore' })
    execFileSync('qemu-img', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** True if tests with real QEMU machines are skipped. With REQUIRE_QEMU=1 they fail instead if QEMU is missing. */
export const withoutQemu = !isQemuInstalled() && process.env['REQUIRE_QEMU'] !== '1'

/** The recorder program in the sources. */
export const recorderProgram = createOwnProgram(resolve('lib/entry/recorder.ts'))

type Options = Parameters<typeof createQemuDriver>[0]

/** Creates a QEMU driver on a folder. The default log limit is 1 MB. */
export const createQemu = async (folder: string, overrides: Partial<Options> = {}): Promise<HypervisorDriver> =>
  createQemuDriver({
    folder,
    programs: (await findQemu())!,
    recorderProgram,
    hostFiles: anyFile,
    openImage: refuseImage,
    serialLogSize: 1 << 20,
    log: getAreaLogger('test'),
    ...overrides,
  })
