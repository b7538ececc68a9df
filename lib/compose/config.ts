import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import type * as z from 'zod'
import { findClosestName } from '#lib/access/closest-name.ts'
import { describeSystemError } from '#lib/platform/system-errors.ts'
// Sets the texts of schema issues.
import '#lib/schema-errors.ts'
import { settings } from './settings.ts'

const loopbackHost = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/

type Key = keyof typeof settings

export type Config = { readonly [K in Key]: z.output<(typeof settings)[K]['schema']> } & {
  /** The configuration file, absolute; missing if there is none. */
  readonly file?: string
}

/** A wrong setting. The message has the setting, its source, and what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const isKey = (key: string): key is Key => key in settings

interface Sources {
  /** The flags of the command line, by key of the setting. */
  readonly flags: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The default paths of the configuration file; the first one that exists is read. */
  readonly files?: readonly string[]
}

/**
 * A variable that Kubernetes adds to every pod next to a Service called vmhost (see "Environment variables" in its documentation of
 * Services, and the variables of Docker links). These are addresses, not settings.
 */
const kubernetesVariable = /^VMHOST_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

const readEnvironment = (environment: Sources['environment']): [string, string][] =>
  Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith('VMHOST_') && name !== 'VMHOST_CONFIG' && !kubernetesVariable.test(name) && value
      ? [[name.slice(7).toLowerCase(), value]]
      : [],
  )

/** Returns the hint for an unknown key: the most similar setting, if there is one, and where to find all settings. */
const formatKeyHint = (key: string): string => {
  const closest = findClosestName(key, Object.keys(settings))
  return `${closest ? `did you mean ${closest}? ` : ''}vmhost serve --help shows the settings`
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
  if (listen.protocol === 'http:' && plain_http !== 'anywhere' && !loopbackHost.test(listen.hostname))
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
  const layers: { source: (key: string) => string; entries: [string, unknown][] }[] = [
    { source: key => `${key} in ${file}`, entries: values },
    { source: key => `VMHOST_${key.toUpperCase()}`, entries: readEnvironment(sources.environment) },
    {
      source: key => `--${key.replaceAll('_', '-')}`,
      entries: Object.entries(sources.flags).filter(([key]) => key !== 'config'),
    },
  ]
  const config: Record<string, unknown> = {}
  for (const [key, { schema, default: value }] of Object.entries(settings)) config[key] = schema.parse(value)
  for (const { source, entries } of layers)
    for (const [key, value] of entries) {
      if (!isKey(key)) throw new ConfigError(`${source(key)} is not a setting; ${formatKeyHint(key)}`)
      const parsed = settings[key].schema.safeParse(value)
      if (!parsed.success) throw new ConfigError(`${source(key)} is wrong: ${parsed.error.issues[0]?.message}`)
      config[key] = parsed.data
    }
  if (file !== '') config['file'] = resolve(file)
  // Every key of the settings has a value that its schema parsed.
  const complete = config as Config
  checkCombinations(complete)
  return complete
}
