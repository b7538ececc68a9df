import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { isLoopbackHost } from '#lib/calls/loopback.ts'
import { describeSystemError } from '#lib/platform/system-errors.ts'
import { ConfigError } from './config-error.ts'
import { createEnvironmentLayer, readSettings, type SettingValues } from './read-settings.ts'
import { settings } from './settings.ts'

export type Config = SettingValues<typeof settings> & {
  /** The configuration file, absolute; missing if there is none. */
  readonly file?: string
}

interface Sources {
  /** The flags of the command line, by key of the setting. */
  readonly flags: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The default paths of the configuration file; the first one that exists is read. */
  readonly files?: readonly string[]
}

const readConfigFile = ({ flags, environment, files = [] }: Sources): { values: [string, unknown][]; file: string } => {
  const configured = flags['config'] ?? (environment['VMHOST_CONFIG'] || undefined)
  const file = configured ?? files.find(existsSync)
  if (file === undefined) return { values: [], file: '' }
  try {
    return { values: Object.entries(parseToml(readFileSync(file, 'utf8'))), file }
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${describeSystemError(error)}`)
  }
}

/** Checks the rules that involve several settings. Throws ConfigError. */
const checkCombinations = (config: Config): void => {
  const { listen, plain_http, tls_certificate, tls_key, pack_trust, pack_trusted_keys } = config
  const { control_url, control_key } = config
  if (listen.protocol === 'http:' && plain_http !== 'anywhere' && !isLoopbackHost(listen.hostname))
    throw new ConfigError(
      'listen is wrong: it may be http:// only on loopback (127.0.0.1, localhost, [::1]); use https://, or set plain_http to anywhere',
    )
  if ((control_url === undefined) !== (control_key === undefined))
    throw new ConfigError('control_url and control_key go together: set both of them or neither')
  if ((tls_certificate === undefined) !== (tls_key === undefined))
    throw new ConfigError('tls_certificate and tls_key go together: set both of them or neither')
  if (pack_trust === 'require' && pack_trusted_keys.length === 0)
    throw new ConfigError(
      'pack_trust is require, but pack_trusted_keys is empty: no pack could ever be pulled; name the keys that sign packs, or set pack_trust to warn',
    )
}

/**
 * Reads the configuration: flags take precedence over the environment, the environment over the file, and the file over the
 * defaults. An empty variable counts as unset. Throws ConfigError with the source and the key, for an unknown key or a wrong
 * value. The message does not contain the value, because it may be a secret.
 */
export const readConfig = (sources: Sources): Config => {
  const { values, file } = readConfigFile(sources)
  const config = readSettings(
    settings,
    [
      { source: key => `${key} in ${file}`, entries: values },
      createEnvironmentLayer(sources.environment),
      {
        source: key => `--${key.replaceAll('_', '-')}`,
        entries: Object.entries(sources.flags).filter(([key]) => key !== 'config'),
      },
    ],
    'vmhost serve --help shows the settings',
  )
  const complete: Config = file === '' ? config : { ...config, file: resolve(file) }
  checkCombinations(complete)
  return complete
}

/** The address at which clients reach the service: scheme, host and port. */
export const getPublicUrl = ({ public_url: publicUrl, listen }: Config): string => (publicUrl ?? listen).origin
