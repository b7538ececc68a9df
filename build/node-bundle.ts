import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
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

const lazyImport = /await import\('(\.[^']+)'\)/g

/**
 * Has the command line import its commands at once. The bundler wraps what is imported on demand in functions, and Node compiles
 * these at each start: for a single file that costs more than it saves.
 */
export const withCommandsAtOnce: Plugin = {
  name: 'with-commands-at-once',
  setup({ onLoad }) {
    onLoad({ filter: /lib\/entry\/(cli|commands\/table)\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const files = [...source.matchAll(lazyImport)].map(match => match[1]!)
      const imports = files.map((file, at) => `import * as command${at} from '${file}'\n`)
      let at = 0
      const contents = imports.join('') + source.replace(lazyImport, () => `command${at++}`)
      return { contents, loader: 'ts', resolveDir: dirname(path) }
    })
  },
}

/** Joins what several builds tell of their files. */
export const joinMetafiles = (metafiles: readonly Metafile[]): Metafile => ({
  inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
  outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
})
