import { existsSync, realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isSea } from 'node:sea'
import { Command } from 'commander'
import type { Config } from '#lib/compose/config.ts'
import { askService } from '#lib/doctor/ask-service.ts'
import { ServiceError } from '#lib/errors.ts'
import { thisHost } from '#lib/service-unit/host.ts'
import { installPlist, uninstallPlist } from '#lib/service-unit/install-launchd.ts'
import { installUnit, uninstallUnit, unitFile } from '#lib/service-unit/install-systemd.ts'
import { formatPlist } from '#lib/service-unit/launchd-plist.ts'
import { formatUnit, type UnitOptions } from '#lib/service-unit/systemd-unit.ts'
import { formatJson } from '../admin/text-table.ts'
import type { CommandContext } from './context.ts'

const isMac = process.platform === 'darwin'

/** The program that runs now, as the unit starts it. */
const findProgram = (): readonly string[] =>
  isSea() ? [process.execPath] : [process.execPath, realpathSync(process.argv[1] ?? '')]

const createUnitOptions = (config: Config, user: string): Omit<UnitOptions, 'hasKvmGroup'> => ({
  program: findProgram(),
  user,
  config: config.file ?? '/etc/vmhost/vmhost.toml',
  // Without a configuration the state folder would be that of root.
  state: config.file === undefined ? '/var/lib/vmhost' : config.state,
})

const requireRoot = (): void => {
  if (process.getuid?.() !== 0) throw new ServiceError('forbidden', 'Only root may do this: run the command with sudo.')
}

/** Throws `invalid` for a program where the user of the service cannot run it. */
const refuseHiddenProgram = (program: readonly string[]): void => {
  const hidden = program.find(path => /^\/(home|root|tmp|run\/user)\//.test(path))
  if (hidden !== undefined && !isMac)
    throw new ServiceError(
      'invalid',
      `The program is ${hidden}, where the unit cannot reach it. Put it elsewhere, such as /usr/local/bin, and run it from there.`,
    )
}

/** What systemd says of the unit, by property; undefined on a host without systemd. */
const readUnit = async (): Promise<Readonly<Record<string, string>> | undefined> => {
  if (!existsSync('/run/systemd/system')) return undefined
  const { stdout } = await thisHost.run('systemctl', 'show', '--property=ActiveState,UnitFileState,MainPID', 'vmhost')
  const pairs = stdout
    .trim()
    .split('\n')
    .map(line => line.split('='))
  return Object.fromEntries(pairs.map(([name = '', ...value]) => [name, value.join('=')]))
}

/** `vmhost service …` */
export const createServiceCommand = ({ registerLocal: register }: CommandContext): Command => {
  const service = new Command('service')
  const install = service
    .command('install')
    .description('Install this program as a service of systemd (or launchd), and start it; again after an upgrade')
    .option(
      '--user <name>',
      'user that runs the service; made if it is missing',
      isMac ? userInfo().username : 'vmhost',
    )
    .option('--print', 'print the unit, and change nothing')
  register(install, async config => {
    const { user, print } = install.opts<{ readonly user: string; readonly print?: true }>()
    const options = createUnitOptions(config, user)
    if (print) {
      process.stdout.write(
        isMac ? formatPlist(options, '/Library/Logs/vmhost.log') : formatUnit({ ...options, hasKvmGroup: true }),
      )
      return
    }
    requireRoot()
    refuseHiddenProgram(options.program)
    if (isMac) {
      await installPlist(thisHost, options)
      console.log('Installed the service and started it. Its log is /Library/Logs/vmhost.log.')
      return
    }
    const { outcome, made } = await installUnit(thisHost, options)
    console.log(`The service is ${outcome}${made.length > 0 ? ` (made ${made.join(', ')})` : ''}, and has started.`)
    console.log('Next:\n  vmhost service status\n  vmhost doctor\n  journalctl --unit vmhost --follow')
  })
  register(
    service.command('uninstall').description('Stop the service and remove its unit; machines, state and settings stay'),
    async ({ state }) => {
      requireRoot()
      await (isMac ? uninstallPlist : uninstallUnit)(thisHost)
      console.log(`Removed the service. Its state is still in ${state}, and QEMU machines that ran continue to run.`)
    },
  )
  const status = service
    .command('status')
    .description('Show whether the service runs and is healthy; ends with 1 if not')
    .option('--json', 'as JSON')
  register(status, async ({ state }) => {
    const found = await askService(state)
    const unit = await readUnit()
    const healthy = found.kind === 'running' && found.health.healthy
    const message = found.kind === 'running' ? found.health.message : found.kind
    if (!healthy) process.exitCode = 1
    if (status.opts<{ readonly json?: true }>().json)
      return console.log(formatJson({ service: found.kind, healthy, message, state, unit: unit ?? null }))
    if (unit) {
      const properties = Object.entries(unit).map(pair => pair.join('='))
      console.log(`unit     ${unitFile} (${properties.join(', ')})`)
    }
    console.log(`service  ${message} (${state})`)
  })
  return service
}
