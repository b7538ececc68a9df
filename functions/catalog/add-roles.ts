import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { editListsContract } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editListsContract,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/roles',
  summary: 'Add roles to a manifest',
}).handle((call, { catalog }) => catalog.edit(toManifestCall(call), 'add', 'roles', call.body))
