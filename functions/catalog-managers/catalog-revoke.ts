import { endpoint } from '#lib/http/endpoint.ts'
import { flagContract } from '#lib/remote-catalogs/managers/contracts.ts'

export default endpoint({
  ...flagContract,
  method: 'PATCH',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}/revoke',
  summary: 'Revoke a manifest of a remote catalog permanently',
}).handle((call, { managedCatalogs }) => managedCatalogs.change(call, 'PATCH', 'revoke'))
