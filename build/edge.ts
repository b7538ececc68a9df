import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'
import { apiDescriptionFile } from '#lib/compose/api-description.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'
import { buildApiDescription } from './api-description.ts'
import { webConsoleFile } from '#lib/compose/assets/console-pages.ts'
import { edgeFiles, noHtmlEntities } from './edge-plugins.ts'
import { chainToHost } from './import-graph.ts'
import { nodeModules } from './node-modules.ts'
import { buildPages } from './pages.ts'
import { onlyRoutes } from './only-routes.ts'

const plugins = [nodeModules, edgeFiles, noHtmlEntities]

/** How everything is bundled that runs at the edge. */
export const edgeBuildOptions = {
  bundle: true,
  minify: true,
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['workerd', 'worker', 'import'],
  target: 'es2023',
  format: 'esm',
  external: ['node:*', 'cloudflare:*', `*/${apiDescriptionFile}`, `*/${webConsoleFile}`],
  plugins,
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

/** The most bytes of what the edge loads at each start. What it loads on demand is not counted. */
const budget = { minified: 600_000, gzip: 200_000 }

/** The files that the edge loads at each start: the program, and what it imports statically. */
const listFilesOfStart = ({ outputs }: Metafile, entry: string): readonly string[] => {
  const files = new Set([entry])
  for (const file of files)
    for (const { path, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && outputs[path]) files.add(path)
  return [...files]
}

/** The size of what the edge loads at each start, in bytes. */
export const measureStart = (metafile: Metafile, entry: string): typeof budget => {
  const contents = listFilesOfStart(metafile, relative(process.cwd(), entry)).map(file => readFileSync(file))
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0)
  return {
    minified: sum(contents.map(({ length }) => length)),
    gzip: sum(contents.map(bytes => gzipSync(bytes, { level: 9 }).length)),
  }
}

const refuseChainsToHost = (metafile: Metafile, files: readonly string[]): void => {
  const chains = files.flatMap(file => chainToHost(metafile, file)?.join('\n  → ') ?? [])
  if (chains.length > 0)
    throw new Error(`The edge reaches a module that only a host has:\n${[...new Set(chains)].join('\n')}`)
}

interface Options {
  /** The selection of all routes that the bundled ones are. */
  readonly builtFor?: Exposure
  /** The program, when it is another one. */
  readonly entry?: string
  /** Plugins that come before those of the build. */
  readonly plugins?: readonly Plugin[]
}

/**
 * Bundles the program of the edge into `file`, with its lazy chunks and api-description.json beside it. Throws when it or one of
 * the endpoints reaches a module that only a host has, with the chain of imports that leads there, and when it is too large.
 */
export const buildEdge = async (
  file: string,
  routes: readonly Route[],
  { builtFor = { include: [], exclude: [] }, entry = resolve('lib/entry/edge.ts'), plugins: more = [] }: Options = {},
): Promise<Metafile> => {
  const folder = dirname(file)
  // Chunks have their content in their names, so those of an earlier build would stay.
  for (const name of globSync('*.mjs', { cwd: folder })) rmSync(join(folder, name))
  const { metafile } = await build({
    ...edgeBuildOptions,
    entryPoints: { [basename(file, '.mjs')]: entry },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: '[name]-[hash]',
    splitting: true,
    plugins: [...more, ...plugins, onlyRoutes(routes, builtFor)],
  })
  refuseChainsToHost(metafile, [relative(process.cwd(), entry), ...routes.map(({ id }) => `functions/${id}.ts`)])
  writeFileSync(join(folder, apiDescriptionFile), await buildApiDescription(routes))
  writeFileSync(join(folder, webConsoleFile), (await buildPages(routes)).text)
  const size = measureStart(metafile, file)
  if (size.minified > budget.minified || size.gzip > budget.gzip)
    throw new Error(
      `The edge loads ${size.minified} bytes at a start (${size.gzip} with gzip); it may load ${budget.minified} (${budget.gzip}).`,
    )
  return metafile
}
