import { execFileSync } from 'node:child_process'

const installed = (): boolean => {
  try {
    execFileSync('qemu-system-x86_64', ['--version'], { stdio: 'ignore' })
    execFileSync('qemu-img', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Whether tests with real QEMU machines are left out. Where QEMU is required, its absence fails them instead. */
export const withoutQemu = !installed() && process.env['REQUIRE_QEMU'] !== '1'
