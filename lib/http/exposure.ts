import { ServiceError } from '#lib/errors.ts'
import type { Route } from './endpoint.ts'

/** Which routes are served: patterns over ids (`machines/*`) and over `METHOD /path` (`GET /v1/catalog/**`). */
export interface Exposure {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** `*` stands for anything within one segment, `**` for anything. */
const toRegExp = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replace(/[.+?^$()[\]{}|\\]/g, '\\$&').replace(/\*\*|\*/g, stars => (stars === '**' ? '.*' : '[^/]*'))}$`,
  )

/** The names that patterns are matched with: the id of a route, and each of its method and path pairs. */
const listNames = ({ id, endpoint }: Route): readonly string[] => [
  id,
  `${endpoint.method} ${endpoint.path}`,
  ...(endpoint.also ?? []),
]

/**
 * The routes that are exposed. An empty `include` means all routes; `exclude` wins over `include`. Throws `invalid` with
 * each pattern that matches no route, so that a typing error does not expose or hide the wrong route.
 */
export const selectExposedRoutes = <R extends Route>(
  routes: readonly R[],
  { include, exclude }: Exposure,
): readonly R[] => {
  const matches = (pattern: string): readonly R[] => {
    const expression = toRegExp(pattern)
    return routes.filter(route => listNames(route).some(name => expression.test(name)))
  }
  for (const [setting, patterns] of Object.entries({ routes_include: include, routes_exclude: exclude })) {
    const unmatched = patterns.filter(pattern => matches(pattern).length === 0)
    if (unmatched.length > 0)
      throw new ServiceError(
        'invalid',
        `${setting} has ${unmatched.join(', ')}, which matches no route; see \`vmhost routes\` for the names.`,
      )
  }
  const included = new Set(include.length > 0 ? include.flatMap(matches) : routes)
  const excluded = new Set(exclude.flatMap(matches))
  return routes.filter(route => included.has(route) && !excluded.has(route))
}
