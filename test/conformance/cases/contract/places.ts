import type { Endpoint, Route } from '#lib/http/endpoint.ts'
import { toPathPattern } from '#lib/calls/paths.ts'
import { hostRoutes } from '#lib/compose/hosts/host-routes.ts'

/** The endpoints that every runtime serves. */
export const routes: readonly Route[] = hostRoutes

/** Every method and path of an endpoint. */
export const pairsOf = ({
  method,
  path,
  also = [],
}: Endpoint): readonly (readonly [method: string, path: string])[] => [
  [method, path],
  ...also.map(pair => {
    const [other = '', at = ''] = pair.split(' ')
    return [other, at] as const
  }),
]

/** A method and a path of an endpoint, with something that there is not in each place of a parameter. */
export interface Place {
  readonly id: string
  readonly endpoint: Endpoint
  readonly method: string
  readonly path: string
  /** For titles: as the contract says it. */
  readonly pattern: string
}

const absentId = '00000000-0000-4000-8000-0000000000ff'

/** A path with something that there is not in place of each parameter. */
export const fillPath = (path: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name) => (name === 'id' ? absentId : 'nothing'))

export const places: readonly Place[] = routes.flatMap(({ id, endpoint }) =>
  pairsOf(endpoint).map(([method, pattern]) => ({ id, endpoint, method, path: fillPath(pattern), pattern })),
)

/** The endpoints at the method and path that their contracts name first. */
export const firstPlaces: readonly Place[] = places.filter(({ endpoint: { method, path }, ...place }) => {
  return place.method === method && place.pattern === path
})

/** The distinct paths, each with the methods that it takes. */
export const paths: readonly {
  readonly pattern: string
  readonly path: string
  readonly methods: ReadonlySet<string>
}[] = [...new Set(places.map(({ pattern }) => pattern))].map(pattern => {
  const path = fillPath(pattern)
  const taking = places.filter(place => toPathPattern(place.pattern).test(path))
  return { pattern, path, methods: new Set(taking.map(({ method }) => method)) }
})
