import type { Config } from '#lib/compose/config.ts'
import type { Endpoint, Route } from '#lib/http/endpoint.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { servedRoutes } from '#lib/compose/served-routes.ts'
import { tableText } from './admin/text-table.ts'

const accessText = ({ access }: Endpoint): string => {
  if (typeof access === 'string') return access
  const { roles = [], claims = [], anyClaim = [] } = access
  return [...roles, ...claims, ...(anyClaim.length > 0 ? [anyClaim.join(' | ')] : [])].join(' + ')
}

const rowOf = ({ id, endpoint }: Route) => ({
  id,
  method: endpoint.method,
  path: toServedPath(endpoint.path),
  also: (endpoint.also ?? []).map(pair => pair.replace(/ (.*)/, (_, path: string) => ` ${toServedPath(path)}`)),
  access: endpoint.access,
  effect: endpoint.effect,
  uses: endpoint.uses,
  summary: endpoint.summary,
})

/** Prints the effective routing table, as a table for people or as JSON for tools. */
export const showRoutes = (config: Config, json: boolean): void => {
  const routes = servedRoutes(config)
  if (json) {
    console.log(JSON.stringify(routes.map(rowOf), undefined, 2))
    return
  }
  const rows = routes.map(({ id, endpoint }) => [
    id,
    endpoint.method,
    toServedPath(endpoint.path),
    endpoint.effect,
    accessText(endpoint),
  ])
  console.log(tableText([['ID', 'METHOD', 'PATH', 'EFFECT', 'WHO'], ...rows]))
}
