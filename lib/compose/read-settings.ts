import { findClosestName } from '#lib/access/closest-name.ts'
import type * as z from 'zod'
// Sets the texts of schema issues.
import '#lib/schema-errors.ts'
import { ConfigError } from './config-error.ts'

/** The settings that a program has, by their keys. */
export type SettingsTable = Readonly<Record<string, { readonly schema: z.ZodType; readonly default: unknown }>>

/** The values of settings. */
export type SettingValues<T extends SettingsTable> = { readonly [K in keyof T]: z.output<T[K]['schema']> }

/** A source of settings. */
export interface SettingsLayer {
  /** How messages call a key in this source. */
  readonly source: (key: string) => string
  readonly entries: readonly (readonly [key: string, value: unknown])[]
}

/**
 * A variable that Kubernetes adds to every pod next to a Service called vmhost (see "Environment variables" in its documentation of
 * Services, and the variables of Docker links). These are addresses, not settings.
 */
const kubernetesVariable = /^VMHOST_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

/** The settings in an environment. An empty variable counts as unset. */
export const createEnvironmentLayer = (environment: Readonly<Record<string, unknown>>): SettingsLayer => ({
  source: key => `VMHOST_${key.toUpperCase()}`,
  entries: Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith('VMHOST_') && name !== 'VMHOST_CONFIG' && !kubernetesVariable.test(name) && value
      ? [[name.slice(7).toLowerCase(), value] as const]
      : [],
  ),
})

/**
 * Reads settings: a later layer takes precedence over an earlier one, and all over the defaults. Throws ConfigError with the
 * source and the key, for an unknown key or a wrong value. The message does not contain the value, because it may be a secret.
 * @param howToList says where an operator finds all settings
 */
export const readSettings = <T extends SettingsTable>(
  table: T,
  layers: readonly SettingsLayer[],
  howToList: string,
): SettingValues<T> => {
  const values: Record<string, unknown> = {}
  for (const [key, { schema, default: value }] of Object.entries(table)) values[key] = schema.parse(value)
  for (const { source, entries } of layers)
    for (const [key, value] of entries) {
      const setting = Object.hasOwn(table, key) ? table[key] : undefined
      if (!setting) {
        const closest = findClosestName(key, Object.keys(table))
        const hint = `${closest ? `did you mean ${closest}? ` : ''}${howToList}`
        throw new ConfigError(`${source(key)} is not a setting; ${hint}`)
      }
      const parsed = setting.schema.safeParse(value)
      if (!parsed.success) throw new ConfigError(`${source(key)} is wrong: ${parsed.error.issues[0]?.message}`)
      values[key] = parsed.data
    }
  // Every key of the table has a value that its schema parsed.
  return values as SettingValues<T>
}
