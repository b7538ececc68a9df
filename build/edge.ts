import { relative, resolve } from 'node:path'
import { build, type BuildOptions, type Metafile } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import { chainToHost } from './import-graph.ts'
import { nodeModules } from './node-modules.ts'
import { onlyRoutes } from './only-routes.ts'

/** How everything is bundled that runs at the edge. */
export const edgeBuildOptions = {
  bundle: true,
  minify: true,
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['workerd', 'worker', 'import'],
  target: 'es2023',
  format: 'esm',
  external: ['node:*'],
  plugins: [nodeModules],
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

/**
 * Bundles the endpoints that the edge can serve into `file`. Throws when one of them reaches a module that only a
 * host has, with the chain of imports that leads there.
 */
export const buildEdge = async (
  file: string,
  routes: readonly Route[],
  entry = resolve('lib/entry/edge.ts'),
): Promise<Metafile> => {
  const { metafile } = await build({
    ...edgeBuildOptions,
    entryPoints: [entry],
    outfile: file,
    plugins: [nodeModules, onlyRoutes(routes)],
  })
  const chains = [relative(process.cwd(), entry), ...routes.map(({ id }) => `functions/${id}.ts`)].flatMap(
    from => chainToHost(metafile, from) ?? [],
  )
  if (chains.length > 0)
    throw new Error(`An edge endpoint reaches a module that only a host has:\n  ${chains.join('\n  → ')}`)
  return metafile
}
