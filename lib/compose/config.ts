import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import type * as z from 'zod'
import { findClosestName } from '#lib/access/closest-name.ts'
import { systemReason } from '#lib/platform/system-errors.ts'
// Gives the issues their words.
import '#lib/schema-errors.ts'
import { settings } from './settings.ts'

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/

type Key = keyof typeof settings

export type Config = { readonly [K in Key]: z.output<(typeof settings)[K]['schema']> } & {
  /** The file that settings were read from, absolute. */
  readonly file?: string
}

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

/**
 * What Kubernetes puts into every pod beside a Service called vmhost (its documentation, "Environment variables" of Services,
 * and the variables of Docker links): where that Service is, and nothing that anybody set.
 */
const ofKubernetes = /^VMHOST_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

const fromEnvironment = (environment: Sources['environment']): [string, string][] =>
  Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith('VMHOST_') && name !== 'VMHOST_CONFIG' && !ofKubernetes.test(name) && value
      ? [[name.slice(7).toLowerCase(), value]]
      : [],
  )

/** What somebody may have meant by a key that there is not, and where all of them are. */
const hintFor = (key: string): string => {
  const closest = findClosestName(key, Object.keys(settings))
  return `${closest ? `did you mean ${closest}? ` : ''}vmhost serve --help shows the settings`
}

const fromFile = ({ flags, environment, files = [] }: Sources): { values: [string, unknown][]; file: string } => {
  const named = flags['config'] ?? (environment['VMHOST_CONFIG'] || undefined)
  const file = named ?? files.find(existsSync)
  if (file === undefined) return { values: [], file: '' }
  try {
    return { values: Object.entries(parseToml(readFileSync(file, 'utf8'))), file }
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${systemReason(error)}`)
  }
}

/** What no setting can be judged by alone. */
const checkTogether = (config: Config): void => {
  const { listen, plain_http, tls_certificate, tls_key, pack_trust, pack_trusted_keys } = config
  if (listen.protocol === 'http:' && plain_http !== 'anywhere' && !loopback.test(listen.hostname))
    throw new ConfigError(
      'listen is wrong: it may be http:// only on loopback (127.0.0.1, localhost, [::1]); use https://, or set plain_http to anywhere',
    )
  if ((tls_certificate === undefined) !== (tls_key === undefined))
    throw new ConfigError('tls_certificate and tls_key go together: set both of them or neither')
  if (pack_trust === 'require' && pack_trusted_keys.length === 0)
    throw new ConfigError(
      'pack_trust is require, but pack_trusted_keys is empty: no pack could ever be pulled; name the keys that sign packs, or set pack_trust to warn',
    )
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
      if (!isKey(key)) throw new ConfigError(`${source(key)} is not a setting; ${hintFor(key)}`)
      const parsed = settings[key].schema.safeParse(value)
      if (!parsed.success) throw new ConfigError(`${source(key)} is wrong: ${parsed.error.issues[0]?.message}`)
      config[key] = parsed.data
    }
  if (file !== '') config['file'] = resolve(file)
  checkTogether(config as Config)
  return config as Config
}
