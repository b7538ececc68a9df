import { Command, Option, type OptionValues } from 'commander'
import { type Config, readConfig } from '#lib/compose/config.ts'
import { ConfigError } from '#lib/compose/read-settings.ts'
import { settings } from '#lib/compose/settings.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createAuditCommand } from './commands/audit.ts'
import { createCatalogCommand } from './commands/catalog.ts'
import { createClaimsCommand } from './commands/claims.ts'
import { createConsoleCommand } from './commands/console.ts'
import { createJobsCommand } from './commands/jobs.ts'
import { createKeysCommand } from './commands/keys.ts'
import { createRolesCommand } from './commands/roles.ts'
import type { CommandWork, RegisterCommand, RegisterLocalCommand } from './commands/invocation.ts'
import { createStorageCommand } from './commands/storage.ts'
import { createTunnelCommand } from './commands/tunnel.ts'
import { createUsersCommand } from './commands/users.ts'
import { takeConnection } from './admin/read-connection.ts'
import { openLog } from '#lib/platform/log.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { version } from '#lib/compose/version.ts'

const secretKeys = ['root_password', 'storage_password', 'control_key'] as const
/** These settings have no flags, because every user of the host can read the command lines of processes. */
const secretSettings: ReadonlySet<string> = new Set(secretKeys)

const wrongUsage = 2

const configFiles = ['vmhost.toml', '/etc/vmhost/vmhost.toml']

/**
 * Adds `--config` and a flag per setting to a command. The configuration parses the values.
 * @param hidden keys that the help does not list
 */
const addSettingOptions = (command: Command, keys: readonly string[], hidden: readonly string[] = []): Command => {
  command.option('--config <file>', `configuration file (default: ${configFiles.join(' or ')}, if it exists)`)
  for (const [key, { help, default: value }] of Object.entries(settings)) {
    const defaultText = value === undefined || String(value) === '' ? '' : ` (default: ${String(value)})`
    if (keys.includes(key) || hidden.includes(key))
      command.addOption(
        new Option(`--${key.replaceAll('_', '-')} <value>`, help + defaultText).hideHelp(hidden.includes(key)),
      )
    // The command accepts these flags only to refuse them with a hint.
    if (secretSettings.has(key)) command.addOption(new Option(`--${key.replaceAll('_', '-')} <value>`).hideHelp())
  }
  if (hidden.length > 0)
    command.addHelpText('after', '\nFor settings that apply while no service runs, see vmhost serve --help')
  return command
}

const toSettingKey = (option: string): string => option.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const toFlags = (options: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [toSettingKey(name), value]))

/** Selects the options that are settings. The others belong to the command. */
const selectSettings = (options: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) =>
      typeof value === 'string' && (name === 'config' || toSettingKey(name) in settings) ? [[name, value]] : [],
    ),
  )

/** Reads the configuration, and deletes the secrets from the environment. Throws ConfigError. */
const loadConfig = (options: Record<string, string>): Config => {
  const secret = Object.keys(toFlags(options)).find(key => secretSettings.has(key))
  if (secret !== undefined)
    throw new ConfigError(
      `--${secret.replaceAll('_', '-')} is not a flag, because every user of this host can read flags; set VMHOST_${secret.toUpperCase()}, or ${secret} in the configuration file`,
    )
  const config = readConfig({ flags: toFlags(options), environment: process.env, files: configFiles })
  // Child processes inherit the environment, and some of them outlive this process by weeks.
  for (const key of secretSettings) delete process.env[`VMHOST_${key.toUpperCase()}`]
  return config
}

const publicSettings = Object.keys(settings).filter(key => !secretSettings.has(key))

const exitCodesHelp = `
Exit codes:
  0  done
  1  failed, or refused by the service
  2  wrong usage: an unknown command or option, or a missing argument; nothing was done`

/** Makes a command print one line and a hint at its help after wrong arguments, and end with the exit code of wrong usage. */
const configureUsageErrors = (command: Command, name: string): void => {
  command.showHelpAfterError(`\`${name} --help\` shows its commands and options.`)
  // The help ends through this too, with the code 0.
  command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongUsage))
  for (const subcommand of command.commands) configureUsageErrors(subcommand, `${name} ${subcommand.name()}`)
}

/** True for an error of the operating system or SQLite, which the operator can solve. It is not a defect. */
const isOperatorError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(E[A-Z]+|ERR_SQLITE_ERROR)$/.test(String(error.code))

/** The tree of all commands. */
export const createProgram = (parts: ProgramParts): Command => {
  const program = new Command('vmhost')
    .description('Management service for the virtual machines of this host')
    .version(version)
    // After a command `--version` is an option of that command, as for push and pull.
    .enablePositionalOptions()

  addSettingOptions(program.command('serve').description('Run the service'), publicSettings)
    .addHelpText(
      'after',
      `\nOnly in the environment or in the configuration file:\n${secretKeys
        .map(key => `  VMHOST_${key.toUpperCase()}  ${settings[key].help}\n`)
        .join('')}`,
    )
    .action(async (options: Record<string, string>) => (await import('./serve.ts')).serve(loadConfig(options), parts))
  addSettingOptions(
    program.command('routes').description('Show the endpoints that are served, and who may call them'),
    ['routes_include', 'routes_exclude', 'license_path'],
  )
    .option('--json', 'as JSON')
    .action(async ({ json, ...options }: Record<string, string> & { json?: true }) =>
      (await import('./show-routes.ts')).showRoutes(loadConfig(options), json === true),
    )
  program
    .command('keygen')
    .description('Make an RSA key that signs tokens')
    .argument('<file>', 'file to write; it must not exist')
    .option('--bits <number>', 'size of the key in bits', '3072')
    .action(async (file: string, { bits }: { bits: string }) => (await import('./keygen.ts')).createKeyFile(file, bits))

  // If no service runs, the command works in this process, with the rules of these settings.
  const serviceSettings = publicSettings.filter(key => /^(log|password_|lockout_|token_|audit_)/.test(key))
  const createRegister =
    (needs?: 'catalog'): RegisterCommand =>
    <Options extends OptionValues>(command: Command, work: CommandWork<Options>) =>
      addSettingOptions(command, ['state'], serviceSettings).action(async () => {
        const { runCommand } = await import('./admin/admin-client.ts')
        const options = command.opts<Options>()
        const config = loadConfig(selectSettings(options))
        await runCommand(config, parts.startWorker, {
          needs,
          work: (callApi, isRunning) => work(callApi, { args: command.args, options, config, isRunning }),
        })
      })
  const registerLocalCommand: RegisterLocalCommand = (command, work) =>
    addSettingOptions(command, ['state', 'log']).action(async () => {
      await openLog('warning')
      await work(loadConfig(selectSettings(command.opts())), command.args)
    })
  program.addCommand(createStorageCommand(registerLocalCommand))
  for (const createCommand of [
    createUsersCommand,
    createRolesCommand,
    createClaimsCommand,
    createKeysCommand,
    createAuditCommand,
  ])
    program.addCommand(createCommand(createRegister()))
  const connection = takeConnection()
  program.addCommand(createCatalogCommand(createRegister('catalog'), connection))
  program.addCommand(createJobsCommand(createRegister()))
  program.addCommand(createConsoleCommand(registerLocalCommand, connection))
  program.addCommand(createTunnelCommand(registerLocalCommand, connection))
  program.addHelpText('afterAll', exitCodesHelp)
  configureUsageErrors(program, program.name())
  return program
}

/** Runs the command line. */
export const main = async (argv: readonly string[], parts: ProgramParts): Promise<void> => {
  // The reader may close the pipe early, as in `vmhost audit export | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  try {
    await createProgram(parts).parseAsync([...argv])
  } catch (error) {
    const isExpected = error instanceof ServiceError || error instanceof ConfigError || isOperatorError(error)
    // The message of an expected error is enough. Any other error is a defect and needs its stack trace.
    console.error(`vmhost: ${isExpected || !(error instanceof Error) ? messageOf(error) : error.stack}`)
    process.exitCode = 1
  }
}
