import { dirname } from 'node:path'
import type { Plugin } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'
import { tableText } from './table.ts'

/** Puts the selected routes in the place of the whole table, so that the other handlers are not in the bundle at all. */
export const onlyRoutes = (routes: readonly Route[], builtFor?: Exposure): Plugin => ({
  name: 'only-routes',
  setup({ onLoad }) {
    onLoad({ filter: /functions\/routes\.gen\.ts$/ }, ({ path }) => ({
      contents: tableText(routes, builtFor),
      loader: 'ts',
      resolveDir: dirname(path),
    }))
  },
})
