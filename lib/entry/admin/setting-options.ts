import { type Command, Option } from 'commander'
import { type Config, readConfig } from '#lib/compose/config.ts'
import { ConfigError } from '#lib/compose/config-error.ts'
import { settings } from '#lib/compose/settings.ts'

export const secretKeys = ['root_password', 'storage_password', 'control_key'] as const
/** These settings have no flags, because every user of the host can read the command lines of processes. */
const secretSettings: ReadonlySet<string> = new Set(secretKeys)

export const publicSettings = Object.keys(settings).filter(key => !secretSettings.has(key))

const configFiles = ['vmhost.toml', '/etc/vmhost/vmhost.toml']

/**
 * Adds `--config` and a flag per setting to a command. The configuration parses the values.
 * @param hidden keys that the help does not list
 */
export const addSettingOptions = (
  command: Command,
  keys: readonly string[],
  hidden: readonly string[] = [],
): Command => {
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

/** Selects the options that are settings. The others belong to the command. */
const selectSettings = (options: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) =>
      typeof value === 'string' && (name === 'config' || toSettingKey(name) in settings)
        ? [[toSettingKey(name), value]]
        : [],
    ),
  )

/**
 * Reads the configuration with the options of a command, and deletes the secrets from the environment. Options that are no settings
 * are left out. Throws ConfigError.
 */
export const loadConfig = (options: Readonly<Record<string, unknown>>): Config => {
  const flags = selectSettings(options)
  const secret = Object.keys(flags).find(key => secretSettings.has(key))
  if (secret !== undefined)
    throw new ConfigError(
      `--${secret.replaceAll('_', '-')} is not a flag, because every user of this host can read flags; set VMHOST_${secret.toUpperCase()}, or ${secret} in the configuration file`,
    )
  const config = readConfig({ flags, environment: process.env, files: configFiles })
  // Child processes inherit the environment, and some of them outlive this process by weeks.
  for (const key of secretSettings) delete process.env[`VMHOST_${key.toUpperCase()}`]
  return config
}
