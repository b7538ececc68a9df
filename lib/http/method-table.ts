import type { Endpoint, Method, Path, Route } from './endpoint.ts'
import { toPathPattern, toServedPath } from '#lib/calls/paths.ts'

/** Every method and path that reaches an endpoint. */
export const methodPathsOf = (endpoint: Endpoint): readonly [Method, Path][] => [
  [endpoint.method, endpoint.path],
  ...(endpoint.also ?? []).map(pair => pair.split(' ') as [Method, Path]),
]

/** A served path and its methods. */
interface Row {
  readonly path: string
  readonly methods: readonly string[]
  readonly pattern: RegExp
}

// `~` sorts after every letter, so a literal segment comes before a parameter at the same position.
const sortKey = (path: string): string => path.replace(/\{\w+\}/g, '~')

const rowsOf = (routes: readonly Route[]): readonly Row[] => {
  const pairs = routes.flatMap(({ endpoint }) =>
    methodPathsOf(endpoint).map(([method, path]) => ({
      path: toServedPath(path),
      methods: method === 'GET' && endpoint.effect === 'read' ? ['GET', 'HEAD'] : [method],
    })),
  )
  return [...Map.groupBy(pairs, ({ path }) => path)]
    .map(([path, group]) => ({ path, methods: group.flatMap(({ methods }) => methods), pattern: toPathPattern(path) }))
    .sort((a, b) => (sortKey(a.path) < sortKey(b.path) ? -1 : 1))
}

/** Which methods each path takes. */
export interface MethodTable {
  /** The methods of the served path that matches; empty when none does. The 405 reply lists them. */
  methodsOf(path: string): readonly string[]
  /** Methods that only a less literal path takes. The router must refuse them instead of falling back to that path. */
  readonly shadowed: readonly { readonly path: string; readonly methods: readonly string[] }[]
}

/** When two paths match, the more literal one wins: `/v1/jobs/cleanup` is not `/v1/jobs/{id}` (OpenAPI 3.1, Paths Object). */
export const createMethodTable = (routes: readonly Route[]): MethodTable => {
  const rows = rowsOf(routes)
  const shadowed = rows.flatMap(({ path, methods }, at) => {
    const concrete = path.replace(/\{\w+\}/g, '~')
    // Only a path with a parameter matches another path.
    const others = rows.slice(at + 1).filter(other => other.path.includes('{') && other.pattern.test(concrete))
    const shadowedMethods = others
      .flatMap(row => row.methods)
      .filter(method => method !== 'HEAD' && !methods.includes(method))
    return shadowedMethods.length > 0 ? [{ path, methods: [...new Set(shadowedMethods)] }] : []
  })
  return { shadowed, methodsOf: path => rows.find(({ pattern }) => pattern.test(path))?.methods ?? [] }
}
