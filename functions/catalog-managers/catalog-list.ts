import { endpoint } from '#lib/http/endpoint.ts'
import {
  passThroughManifests,
  PassThroughQuery,
  RemoteManifests,
} from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { encodePage } from '#lib/remote-catalogs/managers/encode-page.ts'
import { CatalogManagerReference } from '#lib/remote-catalogs/managers/schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'
import { CatalogQuery } from '#lib/catalog/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}/catalog',
  summary: 'List the manifests of a remote catalog that you may see; a page can have fewer than its limit',
  access: { anyClaim: ['LIST_CATALOG_MANIFEST', 'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN'] },
  effect: 'read',
  uses: ['managedCatalogs'],
  params: CatalogManagerReference,
  query: PassThroughQuery,
  filter: 'handled',
  faults: remoteFaults,
  hasETag: true,
  paged: true,
  passThrough: { ...passThroughManifests, query: CatalogQuery },
  reply: RemoteManifests,
}).handle(async (call, { managedCatalogs }) =>
  encodePage(call.params.id, await managedCatalogs.list(call), call.filter?.matches),
)
