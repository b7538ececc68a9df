import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { build, type BuildResult, type Metafile } from 'esbuild'
import { apiDescriptionFile } from '#lib/compose/api-description.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'
import { webConsoleFile } from '#lib/compose/assets/console-pages.ts'
import { buildPages } from '../pages.ts'
import { buildApiDescription } from '../api-description.ts'
import { wasmFile } from '../host.ts'
import { joinMetafiles, nodeOptions, withoutAddOns } from '../node-bundle.ts'
import { onlyRoutes } from '../only-routes.ts'
import { needsPart, withoutUnusedParts } from '../parts.ts'

// What was written for CommonJS asks for modules of Node in this way. It finds nothing else, and no file in its folder: what lies
// beside the executable must not become part of the program.
const banner =
  "const require=name=>{const found=process.getBuiltinModule(name);if(found)return found;throw new Error(name+' is not part of this program')},__filename=process.execPath,__dirname=__filename;"

/** The code of the executable, before Node makes one file of it. */
export interface ExecutableBundle {
  readonly main: string
  /** By their names, the other files that go into the executable. */
  readonly assets: Readonly<Record<string, string | Uint8Array>>
  readonly metafile: Metafile
}

/** Returns the texts of the files that a build has made, by their paths from the folder of the build. */
const readOutput = ({ outputFiles }: BuildResult<{ write: false }>): Readonly<Record<string, string>> =>
  Object.fromEntries(outputFiles.map(({ path, text }) => [relative('.', path), text]))

/**
 * Bundles the code of the executable: its main module, and as assets the modules of the program, the code of its worker threads and
 * processes, and its data.
 * @param builtFor the selection of all routes that `routes` are
 */
export const bundleExecutable = async (
  routes: readonly Route[],
  builtFor: Exposure = { include: [], exclude: [] },
): Promise<ExecutableBundle> => {
  const plugins = [onlyRoutes(routes, builtFor), withoutUnusedParts(routes), withoutAddOns]
  const main = await build({
    ...nodeOptions,
    write: false,
    entryPoints: ['lib/entry/executable.ts'],
    format: 'esm',
    banner: { js: banner },
  })
  const program = await build({
    ...nodeOptions,
    plugins,
    write: false,
    outdir: '.',
    entryPoints: { program: 'lib/entry/executable-program.ts' },
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    format: 'esm',
    banner: { js: banner },
  })
  const worker = await build({
    ...nodeOptions,
    plugins,
    write: false,
    entryPoints: ['lib/entry/executable-worker.ts'],
    // Node runs the text of a worker thread as CommonJS.
    format: 'cjs',
  })
  const ownPrograms = await build({
    ...nodeOptions,
    write: false,
    outdir: '.',
    entryPoints: { events: 'lib/entry/events.ts', recorder: 'lib/entry/recorder.ts' },
    format: 'iife',
    banner: { js: banner },
  })
  const pages = await buildPages(routes)
  const code = {
    ...readOutput(program),
    ...readOutput(ownPrograms),
    'worker.cjs': worker.outputFiles[0]!.text,
  }
  return {
    main: main.outputFiles[0]!.text,
    assets: {
      ...code,
      ...(needsPart(routes, 'drivers') && { 'v86.wasm': readFileSync(wasmFile) }),
      [apiDescriptionFile]: await buildApiDescription(routes),
      [webConsoleFile]: pages.text,
      version: hash('sha256', Object.values(code).join('')).slice(0, 16),
    },
    metafile: joinMetafiles([main.metafile, program.metafile, worker.metafile, ownPrograms.metafile, pages.metafile]),
  }
}
