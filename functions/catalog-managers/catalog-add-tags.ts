import { endpoint } from '#lib/http/endpoint.ts'
import { editContract } from '#lib/remote-catalogs/managers/contracts.ts'

export default endpoint({
  ...editContract,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/tags',
  summary: 'Add tags to a manifest of a remote catalog',
  audited: ['tags'],
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'tags'))
