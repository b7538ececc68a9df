import { endpoint } from '#lib/http/endpoint.ts'
import { editContract } from '#lib/remote-catalogs/managers/contracts.ts'

export default endpoint({
  ...editContract,
  method: 'DELETE',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/claims',
  summary: 'Remove claims from a manifest of a remote catalog',
  audited: ['required_claims', 'required_roles', 'tags'],
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'DELETE', 'claims'))
