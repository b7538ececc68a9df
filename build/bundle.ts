/**
 * Builds the service for Node and for the edge, and the routing table, into dist/ or the folder of `--folder`.
 * `--config FILE` selects the routes that this configuration serves; `--include a,b` and `--exclude a,b` stand for its settings
 * `routes_include` and `routes_exclude`. `--if-stale` builds only when a source is newer.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Metafile } from 'esbuild'
import { needsControl } from '#lib/compose/hosts/host-routes.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'
import { buildClient } from './client/bundle.ts'
import { buildEdge, measureStart } from './edge.ts'
import { formatEndpointTable, makeEndpointTable } from './endpoint-table.ts'
import { exposureOptions, readExposure, runBuild } from './exposure.ts'
import { isFresh } from './freshness.ts'
import { buildHost } from './host.ts'
import { readRoutes } from './table.ts'

const { values } = parseArgs({
  options: {
    ...exposureOptions,
    folder: { type: 'string', default: 'dist' },
    'if-stale': { type: 'boolean', default: false },
  },
})
const { folder } = values

const table = (metafile: Metafile): string =>
  Object.entries(metafile.outputs)
    .map(([file, { bytes }]) => `  ${file.padEnd(44)} ${String(Math.ceil(bytes / 1024)).padStart(6)} KB`)
    .join('\n')

const build = async (): Promise<void> => {
  const exposure = readExposure(values)
  const routes = selectExposedRoutes(await readRoutes(), exposure)
  const edgeFile = join(folder, 'edge/edge.mjs')
  const edge = await buildEdge(edgeFile, routes, { builtFor: exposure })
  const host = await buildHost(
    folder,
    routes.filter(route => !needsControl(route)),
    exposure,
  )
  const client = await buildClient(folder)
  const { minified, gzip } = measureStart(edge, edgeFile)
  const endpoints = makeEndpointTable(routes, host)
  writeFileSync(join(folder, 'endpoints.json'), JSON.stringify(endpoints, undefined, 2))
  const built = `Built ${routes.length} endpoints`
  const details = [
    table(host),
    table(edge),
    table(client),
    `  the edge loads ${minified} bytes at a start, ${gzip} with gzip`,
    formatEndpointTable(endpoints),
  ]
  // Before a start, what the start says is what matters.
  console.log(values['if-stale'] ? `${built}.` : `${built}:\n${details.join('\n')}`)
}

// The build writes it last.
if (!values['if-stale'] || !isFresh(join(folder, 'routes.json'))) await runBuild(build)
