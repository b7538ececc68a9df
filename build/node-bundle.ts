import type { BuildOptions, Metafile, Plugin } from 'esbuild'

/** What all bundles for Node have in common. */
export const nodeOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  mainFields: ['module', 'main'],
  target: 'node24',
  logLevel: 'warning',
  metafile: true,
} as const satisfies BuildOptions

/**
 * Leaves the native add-ons of ssh2 out, without which it works. At run time nothing looks for them either: what lies in a
 * folder above the program must not become part of it.
 */
export const withoutAddOns: Plugin = {
  name: 'without-add-ons',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^cpu-features$|\.node$/ }, ({ path }) => ({ path, namespace: 'add-on' }))
    onLoad({ filter: /.*/, namespace: 'add-on' }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${path} is not part of this program`)})`,
    }))
  },
}

/** Joins what several builds tell of their files. */
export const joinMetafiles = (metafiles: readonly Metafile[]): Metafile => ({
  inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
  outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
})
