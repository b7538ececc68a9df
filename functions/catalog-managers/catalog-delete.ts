import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogPlace, PassedQuery } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}',
  also: [
    'DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}',
    'DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}',
  ],
  summary: 'Delete a catalog id, a version or an architecture of a remote catalog, as far as you may see it',
  access: { anyClaim: ['DELETE_CATALOG_MANIFEST', 'CATALOG_MANAGER_DELETE_CATALOG_MANIFEST_OWN'] },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogPlace,
  query: PassedQuery,
  reply: Accepted,
  status: 202,
}).handle(async (call, { managedCatalogs }) => {
  await managedCatalogs.remove(call)
  return accepted(`${Object.values(call.params).slice(1).join(' ')} was deleted from the remote catalog.`)
})
