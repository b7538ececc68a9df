import { constants } from 'node:fs'
import { access, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSystemError } from '#lib/platform/files.ts'
import { type Account, getLastLine, runProcess } from '#lib/platform/processes.ts'
import { demoGuest } from '../demo-guest.gen.ts'

export type Accelerator = 'tcg' | 'kvm' | 'hvf'

/** Milliseconds within which a guest on KVM must print its first output. */
const probeTimeout = 1_500

/** The files of a host that show whether it offers KVM. */
interface KvmHost {
  readonly cpuinfo: string
  readonly device: string
}

const thisHost: KvmHost = { cpuinfo: '/proc/cpuinfo', device: '/dev/kvm' }

const findAccessProblem = async (device: string): Promise<string | undefined> => {
  try {
    await access(device, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return isSystemError(error, 'ENOENT')
      ? `there is no ${device}`
      : `the user of the service may not open ${device}; add it to the group kvm`
  }
}

const probeKvm = async (program: string, account: Account | undefined): Promise<string | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-kvm-'))
  try {
    const kernel = join(folder, 'kernel.bin')
    await writeFile(kernel, demoGuest)
    if (account) for (const path of [kernel, folder]) await chown(path, account.uid, account.gid)
    const args = ['-accel', 'kvm', '-m', '16', '-nodefaults', '-vga', 'none', '-display', 'none', '-serial', 'stdio']
    const { stdout, stderr } = await runProcess(program, [...args, '-kernel', kernel], {
      timeout: probeTimeout,
      account,
    })
    if (stdout.includes('BOOT')) return undefined
    return `a guest did not start with it: ${getLastLine(stderr) || `it said nothing for ${probeTimeout / 1000} seconds`}`
  } finally {
    await rm(join(folder, 'kernel.bin'), { force: true })
    await rm(folder, { recursive: true })
  }
}

/**
 * Returns why this program cannot use KVM, or undefined if a guest really runs with it. The device may exist without hardware
 * support, and is then far slower than translation.
 */
export const findKvmProblem = async (
  program: string,
  account: Account | undefined,
  { cpuinfo, device }: KvmHost = thisHost,
): Promise<string | undefined> => {
  const problem = await findAccessProblem(device)
  if (problem !== undefined) return problem
  const processor = await readFile(cpuinfo, 'utf8').catch(() => '')
  if (!/^flags\s*:.*\b(vmx|svm)\b/m.test(processor))
    return 'the processor offers no hardware virtualization (its flags have neither vmx nor svm)'
  return probeKvm(program, account)
}

interface AcceleratorChoice {
  readonly accelerator: Accelerator
  /** Why hardware virtualization is not used. */
  readonly problem?: string
}

/** Chooses hardware virtualization if a test guest runs with it, else translation, which works everywhere. */
export const chooseAccelerator = async (program: string, account?: Account): Promise<AcceleratorChoice> => {
  if (process.platform === 'darwin') return { accelerator: 'hvf' }
  const problem = await findKvmProblem(program, account)
  return problem === undefined ? { accelerator: 'kvm' } : { accelerator: 'tcg', problem: `KVM is not used: ${problem}` }
}
