import { endpoint } from '#lib/http/endpoint.ts'
import { marking } from '#lib/managers/contracts.ts'

export default endpoint({
  ...marking,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/untaint',
  summary: 'Take that mark away again',
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'untaint'))
