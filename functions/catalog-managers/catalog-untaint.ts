import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManifest, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/untaint',
  summary: 'Take that mark away again',
  access: { roles: ['SUPER_USER'] },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: PassedQuery,
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'untaint'))
