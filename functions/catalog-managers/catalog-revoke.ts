import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManifest, PassedQuery, RemoteManifests } from '#lib/managers/catalog-schemas.ts'

export default endpoint({
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/revoke',
  summary: 'Withdraw a manifest of a remote catalog for good',
  access: { roles: ['SUPER_USER'] },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: CatalogManifest,
  query: PassedQuery,
  reply: RemoteManifests,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'revoke'))
