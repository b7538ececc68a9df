import { existsSync, readFileSync } from 'node:fs'
import { parse as parseToml } from 'smol-toml'
import type * as z from 'zod'
import { messageOf } from './errors.ts'
import { settings } from './settings.ts'

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/

type Key = keyof typeof settings

export type Config = { readonly [K in Key]: z.output<(typeof settings)[K]['schema']> }

/** A setting that is wrong: the start stops and says which one, where it came from, and what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const isKey = (key: string): key is Key => key in settings

interface Sources {
  /** From the command line, by key. */
  readonly flags: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where to look for the file when none was named. */
  readonly files?: readonly string[]
}

const fromEnvironment = (environment: Sources['environment']): [string, string][] =>
  Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith('VMHOST_') && name !== 'VMHOST_CONFIG' && value ? [[name.slice(7).toLowerCase(), value]] : [],
  )

const fromFile = ({ flags, environment, files = [] }: Sources): { values: [string, unknown][]; file: string } => {
  const named = flags['config'] ?? (environment['VMHOST_CONFIG'] || undefined)
  const file = named ?? files.find(existsSync)
  if (file === undefined) return { values: [], file: '' }
  try {
    return { values: Object.entries(parseToml(readFileSync(file, 'utf8'))), file }
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

/** What no setting can be judged by alone. */
const checkTogether = ({ listen, plain_http, tls_certificate, tls_key }: Config): void => {
  if (listen.protocol === 'http:' && plain_http !== 'anywhere' && !loopback.test(listen.hostname))
    throw new ConfigError(
      'listen is wrong: it may be http:// only on loopback (127.0.0.1, localhost, [::1]); use https://, or set plain_http to anywhere',
    )
  if ((tls_certificate === undefined) !== (tls_key === undefined))
    throw new ConfigError('tls_certificate and tls_key go together: set both of them or neither')
}

/**
 * The configuration: flags over environment over file over defaults. An empty variable counts as unset.
 * Throws ConfigError, naming the source and the key, for an unknown key or a bad value (which is not shown: it may be a secret).
 */
export const readConfig = (sources: Sources): Config => {
  const { values, file } = fromFile(sources)
  const layers: { source: (key: string) => string; entries: [string, unknown][] }[] = [
    { source: key => `${key} in ${file}`, entries: values },
    { source: key => `VMHOST_${key.toUpperCase()}`, entries: fromEnvironment(sources.environment) },
    {
      source: key => `--${key.replaceAll('_', '-')}`,
      entries: Object.entries(sources.flags).filter(([key]) => key !== 'config'),
    },
  ]
  const config: Record<string, unknown> = {}
  for (const [key, { schema, default: value }] of Object.entries(settings)) config[key] = schema.parse(value)
  for (const { source, entries } of layers)
    for (const [key, value] of entries) {
      if (!isKey(key))
        throw new ConfigError(`${source(key)} is not a setting; the settings are ${Object.keys(settings).join(', ')}`)
      const parsed = settings[key].schema.safeParse(value)
      if (!parsed.success) throw new ConfigError(`${source(key)} is wrong: ${parsed.error.issues[0]?.message}`)
      config[key] = parsed.data
    }
  checkTogether(config as Config)
  return config as Config
}
