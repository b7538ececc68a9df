import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { exists, isSystemError, writeFileAtomic } from '#lib/platform/files.ts'
import { type Host, runOrThrow } from './host.ts'
import { formatUnit, type UnitOptions, unitMark } from './systemd-unit.ts'

/** The file of the unit. */
export const unitFile = '/etc/systemd/system/vmhost.service'

/** The configuration that an installation writes if there is none: for this host alone, until the operator wants more. */
const formatConfig = (state: string): string => `# All settings: vmhost serve --help
state = ${JSON.stringify(state)}
listen = "https://127.0.0.1:8443"
`

const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw error
  })

/** What an installation has done. */
export interface Installed {
  /** `installed`, `upgraded` (another unit was there, and the service has started again), or `unchanged`. */
  readonly outcome: 'installed' | 'upgraded' | 'unchanged'
  /** The files and users that it has made. */
  readonly made: readonly string[]
}

const hasGroup = async ({ run }: Host, name: string): Promise<boolean> =>
  (await run('getent', 'group', name)).code === 0

/**
 * Installs the service as a unit of systemd and starts it; again to replace the unit, and to restart the service with a new program.
 * Makes the user and the configuration file if they are missing. Throws `conflict`, and changes nothing, if somebody else wrote the
 * unit.
 */
export const installUnit = async (host: Host, options: Omit<UnitOptions, 'hasKvmGroup'>): Promise<Installed> => {
  const { root, run } = host
  const { user, config, state } = options
  const file = root + unitFile
  const before = await readIfThere(file)
  if (before !== undefined && !before.startsWith(unitMark))
    throw new ServiceError(
      'conflict',
      `${file} was not written by this command, so it stays as it is. Move what it changes to ${file}.d/local.conf, remove the file, and install again.`,
    )
  const made: string[] = []
  if ((await run('id', '-u', user)).code !== 0) {
    const home = ['--home-dir', state, '--no-create-home', '--shell', '/usr/sbin/nologin']
    await runOrThrow(host, 'useradd', '--system', '--user-group', ...home, user)
    made.push(`the user ${user}`)
  }
  if (!(await exists(root + config))) {
    await mkdir(dirname(root + config), { recursive: true, mode: 0o755 })
    await writeFileAtomic(root + config, formatConfig(state), 0o644)
    made.push(config)
  }
  const unit = formatUnit({ ...options, hasKvmGroup: await hasGroup(host, 'kvm') })
  await mkdir(dirname(file), { recursive: true })
  await writeFileAtomic(file, unit, 0o644)
  if (before === undefined) made.push(unitFile)
  await runOrThrow(host, 'systemctl', 'daemon-reload')
  await runOrThrow(host, 'systemctl', 'enable', '--quiet', 'vmhost')
  // Also with the same unit: the program may be another one.
  await runOrThrow(host, 'systemctl', 'restart', 'vmhost')
  return { outcome: before === undefined ? 'installed' : before === unit ? 'unchanged' : 'upgraded', made }
}

/** Stops the service and removes its unit. The state, the configuration and the user stay. Throws `not-found` if there is no unit. */
export const uninstallUnit = async (host: Host): Promise<void> => {
  const file = host.root + unitFile
  if (!(await exists(file))) throw new ServiceError('not-found', `There is no ${file}, so nothing was removed.`)
  await runOrThrow(host, 'systemctl', 'disable', '--now', '--quiet', 'vmhost')
  await rm(file)
  await runOrThrow(host, 'systemctl', 'daemon-reload')
}
