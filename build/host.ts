import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { licensesOf } from './licenses.ts'
import { tableText } from './table.ts'

/** Puts the selected routes in the place of the whole table, so that the other handlers are not in the bundle at all. */
const onlyRoutes = (routes: readonly Route[]): Plugin => ({
  name: 'only-routes',
  setup({ onLoad }) {
    onLoad({ filter: /functions\/routes\.gen\.ts$/ }, ({ path }) => ({
      contents: tableText(routes),
      loader: 'ts',
      resolveDir: dirname(path),
    }))
  },
})

const tableRow = ({ id, endpoint }: Route) => ({
  id,
  method: endpoint.method,
  path: toServedPath(endpoint.path),
  also: endpoint.also ?? [],
  access: endpoint.access,
  effect: endpoint.effect,
  uses: endpoint.uses,
})

// ESM output has none of these; packages written for CommonJS ask for them.
const banner =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url),__filename=import.meta.filename,__dirname=import.meta.dirname;"

const common = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  minify: true,
  platform: 'node',
  mainFields: ['module', 'main'],
  target: 'node24',
  format: 'esm',
  banner: { js: banner },
  logLevel: 'warning',
} as const satisfies BuildOptions

/** Bundles the service for Node into `folder`: vmhost.mjs, events.mjs and recorder.mjs, its lazy chunks with v86.wasm beside them, routes.json, LICENSES.txt. */
export const buildHost = async (folder: string, routes: readonly Route[]): Promise<Metafile> => {
  // Chunks have their content in their names, so those of an earlier build would stay.
  rmSync(join(folder, 'chunks'), { recursive: true, force: true })
  const { metafile } = await build({
    entryPoints: { vmhost: 'lib/entry/main.ts' },
    ...common,
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    // ssh2 does without them.
    external: ['cpu-features', '*.node'],
    metafile: true,
    plugins: [onlyRoutes(routes)],
  })
  // On its own: shared chunks would make the service load in pieces what it always needs.
  await build({
    entryPoints: { events: 'lib/entry/events.ts', recorder: 'lib/entry/recorder.ts' },
    ...common,
    outdir: folder,
  })
  const v86 = createRequire(import.meta.url).resolve('v86/package.json')
  cpSync(join(dirname(v86), 'build', 'v86.wasm'), join(folder, 'chunks', 'v86.wasm'))
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(metafile))
  writeFileSync(join(folder, 'routes.json'), JSON.stringify(routes.map(tableRow), undefined, 2))
  return metafile
}
