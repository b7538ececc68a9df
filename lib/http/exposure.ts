import { ServiceError } from '#lib/errors.ts'
import type { Route } from './endpoint.ts'

/** Which routes are served: patterns over ids (`machines/*`) and over `METHOD /path` (`GET /v1/catalog/**`). */
export interface Exposure {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** `*` stands for anything within one segment, `**` for anything. */
const matcher = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replace(/[.+?^$()[\]{}|\\]/g, '\\$&').replace(/\*\*|\*/g, stars => (stars === '**' ? '.*' : '[^/]*'))}$`,
  )

/** Everything that a pattern can name a route by: its id and each method and path that reach it. */
const namesOf = ({ id, endpoint }: Route): readonly string[] => [
  id,
  `${endpoint.method} ${endpoint.path}`,
  ...(endpoint.also ?? []),
]

/**
 * The routes that an exposure leaves: all when nothing is included by name; exclusion wins.
 * Throws `invalid`, naming each pattern that matches no route: a typing error must not hide or show the wrong thing.
 */
export const exposedRoutes = <R extends Route>(routes: readonly R[], { include, exclude }: Exposure): readonly R[] => {
  const matches = (pattern: string): readonly R[] => {
    const expression = matcher(pattern)
    return routes.filter(route => namesOf(route).some(name => expression.test(name)))
  }
  const idle = [...include, ...exclude].filter(pattern => matches(pattern).length === 0)
  if (idle.length > 0)
    throw new ServiceError('invalid', `No route matches ${idle.join(', ')}; see \`vmhost routes\` for the names.`)
  const shown = new Set(include.length > 0 ? include.flatMap(matches) : routes)
  const hidden = new Set(exclude.flatMap(matches))
  return routes.filter(route => shown.has(route) && !hidden.has(route))
}
