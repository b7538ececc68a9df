import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Metafile } from 'esbuild'
import { apiDescriptionFile } from '#lib/compose/api-description.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'
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
  external: ['node:*', 'cloudflare:*', `*/${apiDescriptionFile}`],
  plugins: [nodeModules],
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

/** The most bytes of the bundle. The platform starts a small one sooner. */
const budget = { minified: 600_000, gzip: 200_000 }

const checkSize = (file: string): void => {
  const bytes = readFileSync(file)
  const size = { minified: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length }
  if (size.minified > budget.minified || size.gzip > budget.gzip)
    throw new Error(
      `${file} has ${size.minified} bytes (${size.gzip} with gzip); the edge may have ${budget.minified} (${budget.gzip})`,
    )
}

/**
 * Bundles the program of the edge into `file`. Throws when it or one of the endpoints reaches a module that only a host has,
 * with the chain of imports that leads there, and when the bundle is too large.
 * @param builtFor the selection of all routes that `routes` are
 */
export const buildEdge = async (
  file: string,
  routes: readonly Route[],
  builtFor: Exposure = { include: [], exclude: [] },
  entry = resolve('lib/entry/edge.ts'),
): Promise<Metafile> => {
  const { metafile } = await build({
    ...edgeBuildOptions,
    entryPoints: [entry],
    outfile: file,
    plugins: [nodeModules, onlyRoutes(routes, builtFor)],
  })
  const chains = [relative(process.cwd(), entry), ...routes.map(({ id }) => `functions/${id}.ts`)].flatMap(
    from => chainToHost(metafile, from)?.join('\n  → ') ?? [],
  )
  if (chains.length > 0)
    throw new Error(`The edge reaches a module that only a host has:\n${[...new Set(chains)].join('\n')}`)
  checkSize(file)
  return metafile
}
