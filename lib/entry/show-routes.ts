import type { Config } from '#lib/compose/config.ts'
import type { Endpoint, Route } from '#lib/http/endpoint.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { selectServedRoutes } from '#lib/compose/served-routes.ts'
import { formatTable } from './admin/text-table.ts'

const formatAccess = ({ access }: Endpoint): string => {
  if (typeof access === 'string') return access
  const { roles = [], claims = [], anyClaim = [] } = access
  return [...roles, ...claims, ...(anyClaim.length > 0 ? [anyClaim.join(' | ')] : [])].join(' + ')
}

const toRow = ({ id, endpoint }: Route) => ({
  id,
  method: endpoint.method,
  path: toServedPath(endpoint.path),
  also: (endpoint.also ?? []).map(pair => pair.replace(/ (.*)/, (_, path: string) => ` ${toServedPath(path)}`)),
  access: endpoint.access,
  effect: endpoint.effect,
  uses: endpoint.uses,
  summary: endpoint.summary,
})

/** Prints the routes that this configuration serves, as a table for people or as JSON for tools. */
export const showRoutes = (config: Config, json: boolean): void => {
  const routes = selectServedRoutes(config)
  if (json) {
    console.log(JSON.stringify(routes.map(toRow), undefined, 2))
    return
  }
  const rows = routes.map(({ id, endpoint }) => [
    id,
    endpoint.method,
    toServedPath(endpoint.path),
    endpoint.effect,
    formatAccess(endpoint),
  ])
  console.log(formatTable([['ID', 'METHOD', 'PATH', 'EFFECT', 'WHO'], ...rows]))
}
