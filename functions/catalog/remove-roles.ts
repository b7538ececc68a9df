import { manifestCall } from '#lib/catalog/manifest-call.ts'
import { editingLists } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editingLists,
  method: 'DELETE',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/roles',
  summary: 'Remove roles from a manifest',
}).handle((call, { catalog }) => catalog.edit(manifestCall(call), 'remove', 'roles', call.body))
