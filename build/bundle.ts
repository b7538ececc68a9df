/**
 * Builds the service for Node and for the edge, and the routing table, into dist/ or the folder of `--folder`.
 * `--config FILE` selects the routes that this configuration serves; `--include a,b` and `--exclude a,b` stand for its settings
 * `routes_include` and `routes_exclude`. `--if-stale` builds only when a source is newer.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Metafile } from 'esbuild'
import { routes as edgeRoutes } from '#functions/routes.edge.gen.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'
import { buildEdge } from './edge.ts'
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
  const ids = new Set(routes.map(({ id }) => id))
  const ownEdgeRoutes = edgeRoutes.filter(({ id }) => ids.has(id))
  const edge = await buildEdge(join(folder, 'edge.mjs'), ownEdgeRoutes)
  const host = await buildHost(folder, routes, exposure)
  const built = `Built ${routes.length} endpoints, ${ownEdgeRoutes.length} of them for the edge too`
  // Before a start, what the start says is what matters.
  console.log(values['if-stale'] ? `${built}.` : `${built}:\n${table(host)}\n${table(edge)}`)
}

// The build writes it last.
if (!values['if-stale'] || !isFresh(join(folder, 'routes.json'))) await runBuild(build)
