import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { version } from '#lib/compose/version.ts'
import { createDebianPackage } from '#build/release/debian-package.ts'
import { executable } from '../executable.ts'
import { until } from '../waiting.ts'

/** A running guest with systemd, dpkg and Python. */
interface Guest {
  /** Runs a command that must succeed, as root. Gives its standard output. */
  execute(command: string): Promise<string>
  /** Writes a file of the guest. */
  writeFile(path: string, content: Buffer<ArrayBuffer>): Promise<void>
}

/** What is left of the service in the guest, besides what the tests themselves have put there. */
const findRemains = String.raw`find / -xdev -name '*vmhost*' -not -path '/root/*' -prune | sort`

/** Asks the health probe of the service on its port, with the certificate that it has made, and prints the status. */
const askPort = `python3 -c "
import ssl, urllib.request
trusted = ssl.create_default_context(cafile='/var/lib/vmhost/tls/cert.pem')
print(urllib.request.urlopen('https://127.0.0.1:8443/api/health/probe', context=trusted).status)"`

/** Makes the Debian package of the executable that is built, as the release of a version. It takes some seconds in one go. */
export const createPackage = (versionOfPackage: string): Buffer<ArrayBuffer> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-deb-'))
  try {
    const licenses = join(executable, `../vmhost-${version}-licenses.txt`)
    const facts = { architecture: 'amd64', executable, licenses, seconds: 1_700_000_000 } as const
    return Buffer.from(createDebianPackage({ ...facts, version: versionOfPackage, work: join(folder, 'work') }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Installs the service in a guest by its Debian package, uses it, upgrades it by a newer package and removes it. */
export const testServiceInGuest = async (
  { execute, writeFile }: Guest,
  [older, newer]: readonly [Buffer<ArrayBuffer>, Buffer<ArrayBuffer>],
): Promise<void> => {
  const install = async (content: Buffer<ArrayBuffer>): Promise<void> => {
    await writeFile('/root/vmhost.deb', content)
    await execute('dpkg --install /root/vmhost.deb >&2 && rm /root/vmhost.deb')
  }
  /** A translated guest needs a while for the start of the program. */
  const waitForPort = () => until(async () => expect(await execute(askPort)).toBe('200\n'), 500)
  const show = async (...properties: readonly string[]): Promise<Readonly<Record<string, string>>> => {
    const shown = await execute(`systemctl show --property=${properties.join(',')} vmhost`)
    return Object.fromEntries(
      shown
        .trim()
        .split('\n')
        .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
  }

  await install(older)
  // The package alone starts nothing.
  expect(await execute('systemctl is-active vmhost || true')).toBe('inactive\n')
  expect(await execute('vmhost service install')).toMatch(
    /^The service is installed \(made the user vmhost, \/etc\/vmhost\/vmhost\.toml, /,
  )
  await waitForPort()
  const first = await show('ActiveState', 'UnitFileState', 'MainPID', 'NRestarts')
  expect(first).toMatchObject({ ActiveState: 'active', UnitFileState: 'enabled', NRestarts: '0' })
  expect(await execute('vmhost service status')).toMatch(/^unit .*ActiveState=active/)

  // What the unit promises, as the kernel sees it.
  const process = await execute(`cat /proc/${first['MainPID']}/status`)
  const uid = (await execute('id -u vmhost')).trim()
  expect(process).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t`, 'm'))
  expect(process).toMatch(/^NoNewPrivs:\t1$/m)
  expect(process).toMatch(/^CapEff:\t0+$/m)
  // Net admin, net raw and net bind service.
  expect(process).toMatch(/^CapBnd:\t0+3400$/m)
  expect(await execute(`ls -A /proc/${first['MainPID']}/root/root`)).toBe('')
  expect(await execute(`grep -c ' /usr [^-]*ro,' /proc/${first['MainPID']}/mountinfo`)).toBe('1\n')
  expect(await execute('stat -c "%a %U" /var/lib/vmhost')).toBe('700 vmhost\n')

  // Something for the state.
  await execute('vmhost roles add KEPT')
  await install(newer)
  await waitForPort()
  const second = await show('ActiveState', 'MainPID')
  expect(second['ActiveState']).toBe('active')
  expect(second['MainPID']).not.toBe(first['MainPID'])
  expect(await execute('vmhost roles list')).toContain('KEPT')

  await execute('dpkg --remove vmhost >&2')
  expect(await execute('systemctl is-active vmhost || true')).toBe('inactive\n')
  expect(await execute('pgrep --count --uid vmhost || true')).toBe('0\n')
  expect(await execute(findRemains)).toBe('/etc/vmhost\n/var/lib/vmhost\n')
  expect(await execute('ls /etc/vmhost')).toBe('vmhost.toml\n')
  expect(await execute('ls /var/lib/vmhost')).toContain('store.db\n')
}
