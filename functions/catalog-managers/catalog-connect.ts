import { endpoint } from '#lib/http/endpoint.ts'
import { PassedBody } from '#lib/managers/catalog-schemas.ts'
import { marking } from '#lib/managers/contracts.ts'

export default endpoint({
  ...marking,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/connection',
  summary: 'Change the connection of a manifest of a remote catalog',
  body: PassedBody,
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'connection'))
