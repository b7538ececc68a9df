import { Command, Option } from 'commander'
import { type Config, ConfigError, readConfig } from '#lib/config.ts'
import { settings } from '#lib/settings.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { auditCommand } from './commands/audit.ts'
import { catalogCommand } from './commands/catalog.ts'
import { claimsCommand } from './commands/claims.ts'
import { jobsCommand } from './commands/jobs.ts'
import { keysCommand } from './commands/keys.ts'
import { rolesCommand } from './commands/roles.ts'
import type { Run } from './commands/run.ts'
import { type OnFiles, storageCommand } from './commands/storage.ts'
import { usersCommand } from './commands/users.ts'
import { openLog } from '#lib/platform/log.ts'
import { version } from './version.ts'

const configFiles = ['vmhost.toml', '/etc/vmhost/vmhost.toml']

/**
 * Adds a flag per setting to a command, and `--config`. The values stay text: the configuration reads them.
 * @param silent keys that help does not list
 */
const withSettings = (command: Command, keys: readonly string[], silent: readonly string[] = []): Command => {
  command.option('--config <file>', `configuration file (default: ${configFiles.join(' or ')}, where there is one)`)
  for (const [key, { help }] of Object.entries(settings))
    // A password on a command line is readable for everybody on the host.
    if (keys.includes(key) || silent.includes(key))
      command.addOption(new Option(`--${key.replaceAll('_', '-')} <value>`, help).hideHelp(silent.includes(key)))
  if (silent.length > 0)
    command.addHelpText('after', '\nSettings of the service that matter while it does not run: see vmhost serve --help')
  return command
}

const settingOf = (option: string): string => option.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const flagsOf = (options: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [settingOf(name), value]))

/** Of a command's options those that are settings; the others are its own. */
const settingsAmong = (options: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) =>
      typeof value === 'string' && (name === 'config' || settingOf(name) in settings) ? [[name, value]] : [],
    ),
  )

const secretSettings = new Set(['root_password', 'storage_password'])

const configOf = (options: Record<string, string>): Config => {
  const config = readConfig({ flags: flagsOf(options), environment: process.env, files: configFiles })
  // Programs that are started from here inherit the environment, and some outlive this one by weeks.
  for (const key of secretSettings) delete process.env[`VMHOST_${key.toUpperCase()}`]
  return config
}

const publicSettings = Object.keys(settings).filter(key => !secretSettings.has(key))

/** What the operating system or SQLite says of a file is for the operator, not a defect. */
const isFromSystem = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(E[A-Z]+|ERR_SQLITE_ERROR)$/.test(String(error.code))

/** Runs the command line. `entry` is the program's own file, which worker threads start from. */
export const main = async (argv: readonly string[], entry: URL): Promise<void> => {
  // Whoever reads has enough, as in `vmhost audit export | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  const program = new Command('vmhost')
    .description('Management service for the virtual machines of this host')
    .version(version)
    // After a command --version is its own: of what is pushed and pulled.
    .enablePositionalOptions()
    .showHelpAfterError()

  withSettings(program.command('serve').description('Run the service'), publicSettings).action(
    async (options: Record<string, string>) => (await import('./serve.ts')).serve(configOf(options), entry),
  )
  withSettings(program.command('routes').description('Show the endpoints that are served, and who may call them'), [
    'routes_include',
    'routes_exclude',
    'license_path',
  ])
    .option('--json', 'as JSON')
    .action(async ({ json, ...options }: Record<string, string> & { json?: true }) =>
      (await import('./show-routes.ts')).showRoutes(configOf(options), json === true),
    )
  program
    .command('keygen')
    .description('Make an RSA key for signing tokens')
    .argument('<file>', 'where to write it; must not exist yet')
    .option('--bits <number>', 'size of the key', '3072')
    .action(async (file: string, { bits }: { bits: string }) => (await import('./keygen.ts')).keygen(file, bits))

  // Where no service runs these are done here, by the rules of the service.
  const ofService = publicSettings.filter(key => /^(log|password_|lockout_|token_|audit_)/.test(key))
  const runWith =
    (needs?: 'catalog'): Run =>
    (command, work) =>
      withSettings(command, ['state'], ofService).action(async () => {
        const { withService } = await import('./reach.ts')
        const options = command.opts<Record<string, unknown>>()
        const config = configOf(settingsAmong(options))
        await withService(config, entry, {
          needs,
          work: (ask, running) => work(ask, { args: command.args, options, config, running }),
        })
      })
  const onFiles: OnFiles = (command, work) =>
    withSettings(command, ['state', 'log']).action(async () => {
      await openLog('warning')
      await work(configOf(settingsAmong(command.opts())), command.args)
    })
  program.addCommand(storageCommand(onFiles))
  for (const make of [usersCommand, rolesCommand, claimsCommand, keysCommand, auditCommand])
    program.addCommand(make(runWith()))
  program.addCommand(catalogCommand(runWith('catalog')))
  program.addCommand(jobsCommand(runWith()))

  try {
    await program.parseAsync([...argv])
  } catch (error) {
    const expected = error instanceof ServiceError || error instanceof ConfigError || isFromSystem(error)
    // What is expected says all there is to say; anything else is a defect, and its trace is what helps.
    console.error(`vmhost: ${expected || !(error instanceof Error) ? messageOf(error) : error.stack}`)
    process.exitCode = 1
  }
}
