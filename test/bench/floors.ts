import { resolve } from 'node:path'
import { buildSync } from 'esbuild'

const built = new Set<string>()

/**
 * Builds a floor as the service is built, and gives its file. Node compiles a `.ts` file at each start and keeps the
 * compiler in memory, so such a floor would flatter what is measured beside it.
 */
export const buildFloor = (name: string): string => {
  const outfile = resolve('dist', 'bench', `${name}.mjs`)
  if (built.has(name)) return outfile
  buildSync({
    entryPoints: [`test/bench/${name}.ts`],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  built.add(name)
  return outfile
}
