import { endpoint } from '#lib/http/endpoint.ts'
import { Catalog, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}/catalog',
  summary: 'List the manifests of a remote catalog that you may see',
  access: { anyClaim: ['LIST_CATALOG_MANIFEST', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] },
  effect: 'read',
  uses: ['managedCatalogs'],
  params: Catalog,
  query: PassedQuery,
  filter: true,
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.list(call))
