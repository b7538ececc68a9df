import { readConfig } from '#lib/compose/config.ts'
import { ConfigError } from '#lib/compose/config-error.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Exposure } from '#lib/http/exposure.ts'

/** The options of a build that select its routes, as `parseArgs` takes them. */
export const exposureOptions = {
  config: { type: 'string' },
  include: { type: 'string' },
  exclude: { type: 'string' },
} as const

/** Reads which routes a build shall have: those of a configuration file, or of the options for its settings. Throws ConfigError. */
export const readExposure = (values: { config?: string; include?: string; exclude?: string }): Exposure => {
  const flags = { config: values.config, routes_include: values.include, routes_exclude: values.exclude }
  const given = Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  const { routes_include, routes_exclude } = readConfig({ flags: Object.fromEntries(given), environment: {} })
  return { include: routes_include, exclude: routes_exclude }
}

/** Runs a build. For a mistake in its options prints only what is wrong. */
export const runBuild = async (build: () => Promise<void>): Promise<void> => {
  try {
    await build()
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
