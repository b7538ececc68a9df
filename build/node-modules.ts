import { builtinModules } from 'node:module'
import type { Plugin } from 'esbuild'

const names = new RegExp(`^(?:node:)?(${builtinModules.filter(name => !name.startsWith('_')).join('|')})$`)

/**
 * Leaves Node's modules out of a bundle for a platform that knows them as `node:…` only. Packages written for CommonJS ask for
 * them by `require`, which no module has; a small module that exports the same takes their place.
 */
export const nodeModules: Plugin = {
  name: 'node-modules',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: names }, ({ path, kind }) => {
      const name = `node:${path.replace(/^node:/, '')}`
      return kind === 'require-call' ? { path: name, namespace: 'required' } : { path: name, external: true }
    })
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({ contents: `export * from '${path}'` }))
  },
}
