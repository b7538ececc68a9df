import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManifest, PassedBody, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/connection',
  summary: 'Change the connection of a manifest of a remote catalog',
  access: { roles: ['SUPER_USER'] },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: PassedQuery,
  body: PassedBody,
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'connection'))
