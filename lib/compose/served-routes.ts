import type { Config } from './config.ts'
import type { Path, Route } from '#lib/http/endpoint.ts'
import { selectExposedRoutes } from '#lib/http/exposure.ts'
import { builtFor } from '#functions/routes.gen.ts'
import { hostRoutes } from './hosts/host-routes.ts'

/** Adds the path with the product that the operator has configured to the license endpoint. The built-in paths stay. */
const applyLicensePath = (route: Route, product: string): Route => {
  if (route.id !== 'license/show') return route
  const { endpoint } = route
  const path: Path = `/v1/${product}/key`
  const builtIn = [`GET ${endpoint.path}` as const, ...(endpoint.also ?? [])]
  return { ...route, endpoint: { ...endpoint, path, also: builtIn.filter(pair => pair !== `GET ${path}`) } }
}

/** Returns those of a program's routes, by default a host's, that this configuration serves. Throws `invalid` for a pattern that matches no route. */
export const selectServedRoutes = (
  config: Pick<Config, 'routes_include' | 'routes_exclude' | 'license_path'>,
  routes = hostRoutes,
): readonly Route[] =>
  selectExposedRoutes(routes, { include: config.routes_include, exclude: config.routes_exclude }, builtFor).map(route =>
    applyLicensePath(route, config.license_path),
  )
