import { endpoint } from '#lib/http/endpoint.ts'
import { flagContract } from '#lib/remote-catalogs/managers/contracts.ts'

export default endpoint({
  ...flagContract,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/taint',
  summary: 'Taint a manifest of a remote catalog: nobody can use it until it is untainted',
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'taint'))
