import { resolve } from 'node:path'
import { build } from 'esbuild'
import { edgeBuildOptions } from '#build/edge.ts'

/** Bundles a program of the tests as the edge is bundled. Suites in it register with the small runner in place of vitest. */
export const bundleForWorkerd = (entry: string, outfile: string) =>
  build({
    ...edgeBuildOptions,
    entryPoints: [resolve(entry)],
    outfile,
    alias: { vitest: resolve('test/support/workerd/vitest.ts') },
  })
