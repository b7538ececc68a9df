import { endpoint } from '#lib/http/endpoint.ts'
import { flagContract } from '#lib/remote-catalogs/managers/contracts.ts'

export default endpoint({
  ...flagContract,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/untaint',
  summary: 'Untaint a manifest of a remote catalog',
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'untaint'))
