/** Bundles the client. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { readTable } from '#lib/client/table.ts'

/**
 * Bytes of the compressed bundle, which every page that uses the client loads: its code, and what an operation adds to the
 * table. With the 126 operations of the specification this is 4 KB.
 */
const largest = 3088 + 8 * readTable().length

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
