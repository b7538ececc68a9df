/**
 * Builds dist/: the service for Node and for the edge, and the routing table.
 * `--include a,b` and `--exclude a,b` select routes at build time; `--if-stale` builds only when a source is newer.
 */
import { parseArgs } from 'node:util'
import type { Metafile } from 'esbuild'
import { routes as edgeRoutes } from '#functions/routes.edge.gen.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'
import { buildEdge } from './edge.ts'
import { isFresh } from './freshness.ts'
import { buildHost } from './host.ts'
import { readRoutes } from './table.ts'

const { values } = parseArgs({
  options: {
    include: { type: 'string', default: '' },
    exclude: { type: 'string', default: '' },
    'if-stale': { type: 'boolean', default: false },
  },
})

const listOf = (text: string): string[] => text.split(',').filter(Boolean)

const table = (metafile: Metafile): string =>
  Object.entries(metafile.outputs)
    .map(([file, { bytes }]) => `  ${file.padEnd(44)} ${String(Math.ceil(bytes / 1024)).padStart(6)} KB`)
    .join('\n')

if (!values['if-stale'] || !isFresh('dist/vmhost.mjs')) {
  const routes = selectExposedRoutes(await readRoutes(), {
    include: listOf(values.include),
    exclude: listOf(values.exclude),
  })
  const host = await buildHost('dist', routes)
  const edge = await buildEdge('dist/edge.mjs', edgeRoutes)
  const built = `Built ${routes.length} endpoints, ${edgeRoutes.length} of them for the edge too`
  // Before a start, what the start says is what matters.
  console.log(values['if-stale'] ? `${built}.` : `${built}:\n${table(host)}\n${table(edge)}`)
}
