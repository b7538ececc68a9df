import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Plugin } from 'esbuild'

/** The files that have another one in their place at the edge, `X.edge.ts` for `X.ts`. */
const replaced = /\/lib\/platform\/log\.ts$/

/** Puts the files for the edge in the place of those for a host. */
export const edgeFiles: Plugin = {
  name: 'edge-files',
  setup({ onLoad }) {
    onLoad({ filter: replaced }, ({ path }) => ({
      contents: readFileSync(path.replace(/\.ts$/, '.edge.ts'), 'utf8'),
      loader: 'ts',
      resolveDir: dirname(path),
    }))
  },
}

/** Leaves out the table of HTML's two thousand entities. The service parses XML alone, which has five. */
export const noHtmlEntities: Plugin = {
  name: 'no-html-entities',
  setup({ onLoad }) {
    onLoad({ filter: /\/entities\/dist\/generated\/decode-data-html\.js$/ }, () => ({
      contents: 'export const htmlDecodeTree = new Uint16Array(0)',
    }))
  },
}
