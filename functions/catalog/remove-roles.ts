import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { editListsContract } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editListsContract,
  method: 'DELETE',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/roles',
  summary: 'Remove roles from a manifest',
}).handle((call, { catalog }) => catalog.edit(toManifestCall(call), 'remove', 'roles', call.body))
