import { Command, Option } from 'commander'
import { type Config, ConfigError, readConfig } from '#lib/compose/config.ts'
import { settings } from '#lib/compose/settings.ts'
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
import { version } from '#lib/compose/version.ts'

const secretKeys = ['root_password', 'storage_password'] as const
/** No flags: what is on a command line is readable for everybody on the host. */
const secretSettings: ReadonlySet<string> = new Set(secretKeys)

const configFiles = ['vmhost.toml', '/etc/vmhost/vmhost.toml']

/**
 * Adds a flag per setting to a command, and `--config`. The values stay text: the configuration reads them.
 * @param silent keys that help does not list
 */
const withSettings = (command: Command, keys: readonly string[], silent: readonly string[] = []): Command => {
  command.option('--config <file>', `configuration file (default: ${configFiles.join(' or ')}, if it exists)`)
  for (const [key, { help, default: usual }] of Object.entries(settings)) {
    const without = usual === undefined || String(usual) === '' ? '' : ` (default: ${String(usual)})`
    if (keys.includes(key) || silent.includes(key))
      command.addOption(
        new Option(`--${key.replaceAll('_', '-')} <value>`, help + without).hideHelp(silent.includes(key)),
      )
    // These are understood in order to be refused with what to do: nobody has to find out why.
    if (secretSettings.has(key)) command.addOption(new Option(`--${key.replaceAll('_', '-')} <value>`).hideHelp())
  }
  if (silent.length > 0)
    command.addHelpText('after', '\nFor settings that apply while no service runs, see vmhost serve --help')
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

const configOf = (options: Record<string, string>): Config => {
  const secret = Object.keys(flagsOf(options)).find(key => secretSettings.has(key))
  if (secret !== undefined)
    throw new ConfigError(
      `--${secret.replaceAll('_', '-')} is not a flag, for everybody on this host can read flags; set VMHOST_${secret.toUpperCase()}, or ${secret} in the configuration file`,
    )
  const config = readConfig({ flags: flagsOf(options), environment: process.env, files: configFiles })
  // Programs that are started from here inherit the environment, and some outlive this one by weeks.
  for (const key of secretSettings) delete process.env[`VMHOST_${key.toUpperCase()}`]
  return config
}

const publicSettings = Object.keys(settings).filter(key => !secretSettings.has(key))

/** After a mistake in its arguments a command prints one line, and where its help is. */
const hintAtHelp = (command: Command, name: string): void => {
  command.showHelpAfterError(`\`${name} --help\` shows what there is.`)
  for (const one of command.commands) hintAtHelp(one, `${name} ${one.name()}`)
}

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

  withSettings(program.command('serve').description('Run the service'), publicSettings)
    .addHelpText(
      'after',
      `\nOnly in the environment or in the configuration file:\n${secretKeys
        .map(key => `  VMHOST_${key.toUpperCase()}  ${settings[key].help}\n`)
        .join('')}`,
    )
    .action(async (options: Record<string, string>) => (await import('./serve.ts')).serve(configOf(options), entry))
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
    .description('Make an RSA key that signs tokens')
    .argument('<file>', 'file to write; it must not exist')
    .option('--bits <number>', 'size of the key in bits', '3072')
    .action(async (file: string, { bits }: { bits: string }) => (await import('./keygen.ts')).keygen(file, bits))

  // Where no service runs these are done here, by the rules of the service.
  const ofService = publicSettings.filter(key => /^(log|password_|lockout_|token_|audit_)/.test(key))
  const runWith =
    (needs?: 'catalog'): Run =>
    (command, work) =>
      withSettings(command, ['state'], ofService).action(async () => {
        const { withService } = await import('./admin/admin-client.ts')
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
  hintAtHelp(program, program.name())

  try {
    await program.parseAsync([...argv])
  } catch (error) {
    const expected = error instanceof ServiceError || error instanceof ConfigError || isFromSystem(error)
    // What is expected says all there is to say; anything else is a defect, and its trace is what helps.
    console.error(`vmhost: ${expected || !(error instanceof Error) ? messageOf(error) : error.stack}`)
    process.exitCode = 1
  }
}
