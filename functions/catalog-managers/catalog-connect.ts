import { endpoint } from '#lib/http/endpoint.ts'
import { PassThroughBody, passThroughManifests } from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { flagContract } from '#lib/remote-catalogs/managers/contracts.ts'
import { ConnectManifest } from '#lib/catalog/schemas.ts'

export default endpoint({
  ...flagContract,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/connection',
  summary: 'Change the connection of a manifest of a remote catalog',
  passThrough: { ...passThroughManifests, body: ConnectManifest },
  body: PassThroughBody,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'connection'))
