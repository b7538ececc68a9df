/**
 * Builds dist/: the service for Node and for the edge, and the routing table.
 * `--include a,b` and `--exclude a,b` select routes at build time; `--if-stale` builds only when a source is newer.
 */
import { globSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Metafile } from 'esbuild'
import { routes as edgeRoutes } from '#functions/routes.edge.gen.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'
import { buildClient } from './client/bundle.ts'
import { buildEdge } from './edge.ts'
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

const isFresh = (): boolean => {
  const built = statSync('dist/vmhost.mjs', { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = globSync(['lib/**/*', 'functions/**/*', 'build/**/*', 'package-lock.json'])
  return sources.every(file => statSync(file).mtimeMs < built)
}

const table = (metafile: Metafile): string =>
  Object.entries(metafile.outputs)
    .map(([file, { bytes }]) => `  ${file.padEnd(44)} ${String(Math.ceil(bytes / 1024)).padStart(6)} KB`)
    .join('\n')

if (!values['if-stale'] || !isFresh()) {
  const routes = selectExposedRoutes(await readRoutes(), {
    include: listOf(values.include),
    exclude: listOf(values.exclude),
  })
  const host = await buildHost('dist', routes)
  const edge = await buildEdge('dist/edge.mjs', edgeRoutes)
  const client = await buildClient('dist')
  const built = `Built ${routes.length} endpoints, ${edgeRoutes.length} of them for the edge too`
  // Before a start, what the start says is what matters.
  console.log(values['if-stale'] ? `${built}.` : `${built}:\n${table(host)}\n${table(edge)}\n${table(client)}`)
}
