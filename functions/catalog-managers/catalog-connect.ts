import { endpoint } from '#lib/http/endpoint.ts'
import { PassedBody, passedManifests } from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { marking } from '#lib/remote-catalogs/managers/contracts.ts'
import { ConnectManifest } from '#lib/catalog/schemas.ts'

export default endpoint({
  ...marking,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/connection',
  summary: 'Change the connection of a manifest of a remote catalog',
  passThrough: { ...passedManifests, body: ConnectManifest },
  body: PassedBody,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'connection'))
