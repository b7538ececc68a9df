import type { Config } from '#lib/config.ts'
import type { Endpoint } from '#lib/http/endpoint.ts'
import { prefix } from '#lib/http/app.ts'
import { servedRoutes } from './served-routes.ts'

const accessText = ({ access }: Endpoint): string =>
  typeof access === 'string'
    ? access
    : [
        ...(access.roles ?? []),
        ...(access.claims ?? []),
        ...(access.anyClaim ? [access.anyClaim.join(' | ')] : []),
      ].join(' + ')

/** Prints the effective routing table, as a table for people or as JSON for tools. */
export const showRoutes = (config: Config, json: boolean): void => {
  const rows = servedRoutes(config).map(({ id, endpoint }) => ({
    id,
    method: endpoint.method,
    path: prefix + endpoint.path,
    also: (endpoint.also ?? []).map(pair => pair.replace(' ', ` ${prefix}`)),
    access: endpoint.access,
    effect: endpoint.effect,
    uses: endpoint.uses,
    summary: endpoint.summary,
    shown: accessText(endpoint),
  }))
  if (json) {
    console.log(
      JSON.stringify(
        rows.map(({ shown: _, ...row }) => row),
        undefined,
        2,
      ),
    )
    return
  }
  const width = (key: 'id' | 'path'): number => Math.max(...rows.map(row => row[key].length))
  for (const row of rows)
    console.log(
      `${row.id.padEnd(width('id'))}  ${row.method.padEnd(6)} ${row.path.padEnd(width('path'))}  ${row.effect.padEnd(6)}  ${row.shown}`,
    )
}
