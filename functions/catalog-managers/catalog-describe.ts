import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManifest, PassedBody, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/metadata',
  summary: 'Change the description, tags, claims and roles of a manifest of a remote catalog',
  access: {
    anyClaim: ['UPDATE_CATALOG_MANIFEST', 'CATALOG_MANAGER_UPDATE', 'CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN'],
  },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: PassedQuery,
  body: PassedBody,
  audited: ['description', 'tags', 'required_claims', 'required_roles'],
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PUT', 'metadata'))
