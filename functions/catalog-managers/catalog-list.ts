import { endpoint } from '#lib/http/endpoint.ts'
import { Catalog, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'
import { encodePage } from '#lib/managers/encode-page.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}/catalog',
  summary: 'List the manifests of a remote catalog that you may see; pages have fewer where others are among them',
  access: { anyClaim: ['LIST_CATALOG_MANIFEST', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] },
  effect: 'read',
  uses: ['managedCatalogs'],
  params: Catalog,
  query: PassedQuery,
  filter: 'handled',
  reply: RemoteManifests,
}).handle(async (call, { managedCatalogs }) =>
  encodePage(call.params.id, await managedCatalogs.list(call), call.filter?.keep),
)
