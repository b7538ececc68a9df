import type { Endpoint, Method, Path, Route } from './endpoint.ts'
import { pathPattern, servedPath } from './paths.ts'

/** Every method and path that reaches an endpoint. */
export const pairsOf = (endpoint: Endpoint): readonly [Method, Path][] => [
  [endpoint.method, endpoint.path],
  ...(endpoint.also ?? []).map(pair => pair.split(' ') as [Method, Path]),
]

/** Answers which methods a path serves, for the 405 of those that it does not. */
export const methodTable = (routes: readonly Route[]): ((path: string) => readonly string[]) => {
  const rows = routes.flatMap(({ endpoint }) =>
    pairsOf(endpoint).map(([method, path]) => ({
      methods: method === 'GET' && endpoint.effect === 'read' ? ['GET', 'HEAD'] : [method],
      pattern: pathPattern(servedPath(path)),
    })),
  )
  return path => [...new Set(rows.filter(row => row.pattern.test(path)).flatMap(row => row.methods))]
}
