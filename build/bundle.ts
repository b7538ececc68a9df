/**
 * Builds the service for Node and for the edge, and the routing table, into dist/ or the folder of `--folder`.
 * `--config FILE` selects the routes that this configuration serves; `--include a,b` and `--exclude a,b` stand for its settings
 * `routes_include` and `routes_exclude`. `--if-stale` builds only when a source is newer.
 */
import { globSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Metafile } from 'esbuild'
import { readConfig } from '#lib/compose/config.ts'
import { needsControl } from '#lib/compose/hosts/host-routes.ts'
import { ConfigError } from '#lib/compose/read-settings.ts'
import { ServiceError } from '#lib/errors.ts'
import { type Exposure, selectExposedRoutes } from '#lib/http/exposure.ts'
import { buildEdge, measureStart } from './edge.ts'
import { formatEndpointTable, makeEndpointTable } from './endpoint-table.ts'
import { buildHost } from './host.ts'
import { readRoutes } from './table.ts'

const { values } = parseArgs({
  options: {
    config: { type: 'string' },
    include: { type: 'string' },
    exclude: { type: 'string' },
    folder: { type: 'string', default: 'dist' },
    'if-stale': { type: 'boolean', default: false },
  },
})
const { folder } = values

const isFresh = (): boolean => {
  // The build writes it last.
  const built = statSync(join(folder, 'routes.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = globSync(['lib/**/*', 'functions/**/*', 'build/**/*', 'package-lock.json'])
  return sources.every(file => statSync(file).mtimeMs < built)
}

const readExposure = (): Exposure => {
  const flags = { config: values.config, routes_include: values.include, routes_exclude: values.exclude }
  const given = Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  const { routes_include, routes_exclude } = readConfig({ flags: Object.fromEntries(given), environment: {} })
  return { include: routes_include, exclude: routes_exclude }
}

const table = (metafile: Metafile): string =>
  Object.entries(metafile.outputs)
    .map(([file, { bytes }]) => `  ${file.padEnd(44)} ${String(Math.ceil(bytes / 1024)).padStart(6)} KB`)
    .join('\n')

const build = async (): Promise<void> => {
  const exposure = readExposure()
  const routes = selectExposedRoutes(await readRoutes(), exposure)
  const edgeFile = join(folder, 'edge/edge.mjs')
  const edge = await buildEdge(edgeFile, routes, { builtFor: exposure })
  const host = await buildHost(
    folder,
    routes.filter(route => !needsControl(route)),
    exposure,
  )
  const { minified, gzip } = measureStart(edge, edgeFile)
  const endpoints = makeEndpointTable(routes, host)
  writeFileSync(join(folder, 'endpoints.json'), JSON.stringify(endpoints, undefined, 2))
  const built = `Built ${routes.length} endpoints`
  const details = [
    table(host),
    table(edge),
    `  the edge loads ${minified} bytes at a start, ${gzip} with gzip`,
    formatEndpointTable(endpoints),
  ]
  // Before a start, what the start says is what matters.
  console.log(values['if-stale'] ? `${built}.` : `${built}:\n${details.join('\n')}`)
}

try {
  if (!values['if-stale'] || !isFresh()) await build()
} catch (error) {
  if (!(error instanceof ServiceError || error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
