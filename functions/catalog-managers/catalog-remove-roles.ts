import { endpoint } from '#lib/http/endpoint.ts'
import { editContract } from '#lib/remote-catalogs/managers/contracts.ts'

export default endpoint({
  ...editContract,
  method: 'DELETE',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/roles',
  summary: 'Remove roles from a manifest of a remote catalog',
  audited: ['required_roles'],
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'DELETE', 'roles'))
