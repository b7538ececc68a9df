import * as z from 'zod'
import { CatalogPlace } from '#lib/catalog/place.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog/{catalogId}',
  also: ['DELETE /v1/catalog/{catalogId}/{version}', 'DELETE /v1/catalog/{catalogId}/{version}/{architecture}'],
  summary: 'Delete a catalog id, a version or an architecture, with its objects on the provider',
  access: { claims: ['DELETE_CATALOG_MANIFEST'] },
  effect: 'change',
  uses: ['catalog'],
  params: CatalogPlace,
  query: z.object({
    clean_remote: z.stringbool().default(true).meta({ description: 'false leaves the objects on the provider' }),
  }),
  reply: Accepted,
  status: 202,
}).handle(async ({ caller, params, query, ifMatch }, { catalog }) => {
  const count = await catalog.remove(caller!, params, { cleanRemote: query.clean_remote, ifMatch: ifMatch() })
  const what = count === 1 ? '1 manifest' : `${count} manifests`
  return accepted(`${Object.values(params).join(' ')} was deleted from the catalog: ${what}.`)
})
