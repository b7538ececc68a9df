/** Bundles the client. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'

/** Bytes of the compressed bundle. Every page that uses the client loads it. */
const largest = 4096

const withoutImports = (file: string): string => readFileSync(file, 'utf8').replaceAll(/^import type .*\n+/gm, '')

/**
 * Bundles the client into `folder`: client.mjs without imports, and client.d.ts, which needs nothing but the types of the
 * platform. Throws when the bundle is larger than it may be.
 */
export const buildClient = async (folder: string): Promise<Metafile> => {
  const file = join(folder, 'client.mjs')
  const { metafile } = await build({
    entryPoints: ['lib/client/client.ts'],
    outfile: file,
    bundle: true,
    minify: true,
    platform: 'neutral',
    target: 'es2022',
    format: 'esm',
    metafile: true,
    logLevel: 'warning',
  })
  const { length } = gzipSync(readFileSync(file), { level: 9 })
  if (length > largest) throw new Error(`${file} has ${length} bytes compressed; ${largest} is the limit`)
  writeFileSync(
    join(folder, 'client.d.ts'),
    `${withoutImports('lib/client/api.gen.ts')}\n${withoutImports('lib/client/types.ts')}`,
  )
  return metafile
}
