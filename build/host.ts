import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { apiDescriptionFile } from '#lib/compose/api-description.ts'
import { webConsoleFile } from '#lib/compose/assets/console-pages.ts'
import { buildApiDescription } from './api-description.ts'
import { licensesOf } from './licenses.ts'
import { joinMetafiles, nodeOptions, withoutAddOns } from './node-bundle.ts'
import { onlyRoutes } from './only-routes.ts'
import { buildPages } from './pages.ts'
import { needsPart, withoutUnusedParts } from './parts.ts'

/** Leaves the roles of worker threads to a bundle of their own. What they share with the service would cut it into more chunks. */
const workerApart: Plugin = {
  name: 'worker-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/worker\.ts$/ }, ({ importer }) =>
      importer === resolve('lib/entry/main.ts') ? { path: './worker.mjs', external: true } : undefined,
    )
  },
}

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

/** The file of v86's WebAssembly program. */
export const wasmFile = createRequire(import.meta.url).resolve('v86/build/v86.wasm')

/**
 * Bundles the service for Node into `folder`: vmhost.mjs and worker.mjs with their lazy chunks and v86.wasm, events.mjs,
 * recorder.mjs, api-description.json, routes.json and LICENSES.txt. What no route needs is not in them: other handlers, drivers
 * (v86.wasm and recorder.mjs too), libraries. Returns what is in all of them.
 * @param builtFor the selection of all routes that `routes` are
 */
export const buildHost = async (
  folder: string,
  routes: readonly Route[],
  builtFor: Exposure = { include: [], exclude: [] },
): Promise<Metafile> => {
  // Chunks have their content in their names, so those of an earlier build would stay. So would what this build does not have.
  for (const name of ['chunks', 'recorder.mjs']) rmSync(join(folder, name), { recursive: true, force: true })
  const hasDrivers = needsPart(routes, 'drivers')
  const options = {
    ...nodeOptions,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    banner: { js: banner },
    outdir: folder,
  } as const
  const inChunks = { ...options, chunkNames: 'chunks/[name]-[hash]', splitting: true } as const
  const service = await build({
    ...inChunks,
    entryPoints: { vmhost: 'lib/entry/main.ts' },
    plugins: [onlyRoutes(routes, builtFor), withoutUnusedParts(routes), withoutAddOns, workerApart],
  })
  const worker = await build({
    ...inChunks,
    entryPoints: { worker: 'lib/entry/worker.ts' },
    plugins: [withoutUnusedParts(routes)],
  })
  // On their own: shared chunks would make the service load in pieces what it always needs.
  const processes = await build({
    ...options,
    entryPoints: { events: 'lib/entry/events.ts', ...(hasDrivers && { recorder: 'lib/entry/recorder.ts' }) },
  })
  if (hasDrivers) cpSync(wasmFile, join(folder, 'chunks', 'v86.wasm'))
  const pages = await buildPages(routes)
  const metafile = joinMetafiles([service.metafile, worker.metafile, processes.metafile])
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(joinMetafiles([metafile, pages.metafile])))
  writeFileSync(join(folder, apiDescriptionFile), await buildApiDescription(routes))
  writeFileSync(join(folder, webConsoleFile), pages.text)
  writeFileSync(join(folder, 'routes.json'), JSON.stringify(routes.map(tableRow), undefined, 2))
  return metafile
}
