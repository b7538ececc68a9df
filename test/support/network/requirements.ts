import { execFileSync } from 'node:child_process'
import { withoutLinux } from '../guests/linux.ts'
import { withoutQemu } from '../drivers/qemu.ts'

const runs = (program: string, ...args: readonly string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const canMakeBridges = (): boolean => {
  const name = `vht${process.pid % 100_000}b`
  return runs('ip', 'link', 'add', name, 'type', 'bridge') && runs('ip', 'link', 'delete', name)
}

/** Why tests with guests on a network are skipped; undefined where they run. */
export const withoutGuests = withoutQemu ? 'QEMU is not installed' : withoutLinux

/** Why tests that change the network of the host are skipped. With REQUIRE_NETWORK=1 they fail instead. */
export const withoutHostNetwork =
  process.env['REQUIRE_NETWORK'] === '1' || canMakeBridges()
    ? withoutGuests
    : 'the test may not make bridges: it lacks CAP_NET_ADMIN'

/** Why tests with passt are skipped. With REQUIRE_NETWORK=1 they fail instead. */
export const withoutPasst =
  process.env['REQUIRE_NETWORK'] === '1' || runs('passt', '--version') ? withoutHostNetwork : 'passt is not installed'
