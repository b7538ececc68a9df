import { constants } from 'node:fs'
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '#lib/platform/processes.ts'
import { buildGuest } from '../guest/guest.ts'
import type { Accelerator } from './arguments.ts'

/** Milliseconds in which a guest must have spoken for KVM to be worth using. */
const patience = 1_500

/** Whether a guest really runs under KVM: the device may be there without hardware behind it, and then it is far slower. */
const kvmWorks = async (program: string): Promise<boolean> => {
  const processor = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  if (!/^flags\s*:.*\b(vmx|svm)\b/m.test(processor)) return false
  const allowed = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!allowed) return false
  const folder = await mkdtemp(join(tmpdir(), 'vmhost-kvm-'))
  try {
    const kernel = join(folder, 'kernel.bin')
    await writeFile(kernel, buildGuest())
    const args = ['-accel', 'kvm', '-m', '16', '-nodefaults', '-vga', 'none', '-display', 'none', '-serial', 'stdio']
    const { stdout } = await runProcess(program, [...args, '-kernel', kernel], { timeout: patience })
    return stdout.includes('BOOT')
  } finally {
    await rm(join(folder, 'kernel.bin'), { force: true })
    await rm(folder, { recursive: true })
  }
}

/** What makes guests fast on this host, proved by running one; else translation, which works everywhere. */
export const chooseAccelerator = async (program: string): Promise<Accelerator> => {
  if (process.platform === 'darwin') return 'hvf'
  return (await kvmWorks(program)) ? 'kvm' : 'tcg'
}
