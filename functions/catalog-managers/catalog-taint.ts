import { endpoint } from '#lib/http/endpoint.ts'
import { marking } from '#lib/managers/contracts.ts'

export default endpoint({
  ...marking,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/taint',
  summary: 'Mark a manifest of a remote catalog as not to be used',
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'taint'))
