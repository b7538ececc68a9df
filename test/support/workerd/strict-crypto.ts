import { resolve } from 'node:path'
import type { Plugin } from 'esbuild'

const limits = resolve('test/support/workerd/strict-limits.ts')

const contents = `
import * as crypto from 'node:crypto'
import { checkIterations } from ${JSON.stringify(limits)}
export * from 'node:crypto'
export const pbkdf2 = (password, salt, iterations, ...rest) => {
  checkIterations(iterations)
  return crypto.pbkdf2(password, salt, iterations, ...rest)
}
export const pbkdf2Sync = (password, salt, iterations, ...rest) => {
  checkIterations(iterations)
  return crypto.pbkdf2Sync(password, salt, iterations, ...rest)
}
`

/** Puts a node:crypto with the platform's limit of PBKDF2 in the place of the local runtime's. */
export const strictCrypto: Plugin = {
  name: 'strict-crypto',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(node:)?crypto$/ }, ({ namespace }) =>
      namespace === 'strict' ? undefined : { path: 'crypto', namespace: 'strict' },
    )
    onLoad({ filter: /.*/, namespace: 'strict' }, () => ({ contents, resolveDir: process.cwd() }))
  },
}
