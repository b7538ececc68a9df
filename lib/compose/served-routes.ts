import type { Config } from './config.ts'
import type { Path, Route } from '#lib/http/endpoint.ts'
import { exposedRoutes } from '#lib/http/exposure.ts'
import { routes } from '#functions/routes.gen.ts'

/** The license's path names the product, which is the operator's to choose; the two known names stay. */
const withLicensePath = (route: Route, product: string): Route => {
  if (route.id !== 'license/show') return route
  const { endpoint } = route
  const chosen: Path = `/v1/${product}/key`
  const known = [`GET ${endpoint.path}` as const, ...(endpoint.also ?? [])]
  return { ...route, endpoint: { ...endpoint, path: chosen, also: known.filter(pair => pair !== `GET ${chosen}`) } }
}

/** The routing table as this configuration serves it. Throws `invalid` for a pattern that matches nothing. */
export const servedRoutes = (
  config: Pick<Config, 'routes_include' | 'routes_exclude' | 'license_path'>,
): readonly Route[] =>
  exposedRoutes<Route>(routes, { include: config.routes_include, exclude: config.routes_exclude }).map(route =>
    withLicensePath(route, config.license_path),
  )
