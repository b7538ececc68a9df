import { findClosestName } from '#lib/access/closest-name.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Route } from './endpoint.ts'
import { refuseMissingNeeds } from './exposure-needs.ts'
import { listMethodPaths } from './method-table.ts'

/** Which routes are served: patterns over ids (`machines/*`), `METHOD /path` (`GET /v1/catalog/**`) and `effect:read`. */
export interface Exposure {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** `*` stands for anything within one segment, `**` for anything. */
const toRegExp = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replace(/[.+?^$()[\]{}|\\]/g, '\\$&').replace(/\*\*|\*/g, stars => (stars === '**' ? '.*' : '[^/]*'))}$`,
  )

/** The names that patterns are matched with: id, effect, and each method with its path as the contract and as a client has it. */
const listNames = ({ id, endpoint }: Route): readonly string[] => [
  id,
  `effect:${endpoint.effect}`,
  ...listMethodPaths(endpoint).flatMap(([method, path]) => [`${method} ${path}`, `${method} ${toServedPath(path)}`]),
]

const formatUnmatched = (pattern: string, routes: readonly Route[]): string => {
  const areas = routes.map(({ id }) => `${id.split('/')[0]}/*`)
  const closest = findClosestName(pattern, [...areas, ...routes.flatMap(listNames)])
  return closest === undefined ? pattern : `${pattern} (did you mean ${closest}?)`
}

/**
 * The routes that are exposed. An empty `include` means all routes; `exclude` wins over `include`. Throws `invalid` with
 * each pattern that matches no route, so that a typing error does not expose or hide the wrong route, and with each route that is
 * left out though others need it.
 * @param builtFor the selection that `routes` already are; its patterns need match nothing any more
 */
export const selectExposedRoutes = <R extends Route>(
  routes: readonly R[],
  { include, exclude }: Exposure,
  builtFor: Exposure = { include: [], exclude: [] },
): readonly R[] => {
  const matches = (pattern: string): readonly R[] => {
    const expression = toRegExp(pattern)
    return routes.filter(route => listNames(route).some(name => expression.test(name)))
  }
  const builtPatterns = new Set([...builtFor.include, ...builtFor.exclude])
  for (const [setting, patterns] of Object.entries({ routes_include: include, routes_exclude: exclude })) {
    const unmatched = patterns.filter(pattern => !builtPatterns.has(pattern) && matches(pattern).length === 0)
    if (unmatched.length > 0)
      throw new ServiceError(
        'invalid',
        `${setting} has ${unmatched.map(pattern => formatUnmatched(pattern, routes)).join(', ')}, which matches no endpoint${builtPatterns.size > 0 ? ' of this build' : ''}; see \`vmhost routes\` for the names.`,
      )
  }
  const included = new Set(include.length > 0 ? include.flatMap(matches) : routes)
  const excluded = new Set(exclude.flatMap(matches))
  const selected = routes.filter(route => included.has(route) && !excluded.has(route))
  refuseMissingNeeds(routes, selected)
  return selected
}
