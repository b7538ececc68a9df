import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManifest, PassedBody, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/tags',
  summary: 'Add tags to a manifest of a remote catalog',
  access: {
    anyClaim: ['UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE', 'CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN'],
  },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: PassedQuery,
  body: PassedBody,
  audited: ['tags'],
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'tags'))
