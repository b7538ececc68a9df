import { endpoint } from '#lib/http/endpoint.ts'
import { marking } from '#lib/managers/contracts.ts'

export default endpoint({
  ...marking,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/revoke',
  summary: 'Withdraw a manifest of a remote catalog for good',
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'revoke'))
