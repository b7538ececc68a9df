import { manifestCall } from '#lib/catalog/manifest-call.ts'
import { editingLists } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editingLists,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/claims',
  summary: 'Add claims, roles and tags to a manifest',
}).handle((call, { catalog }) => catalog.edit(manifestCall(call), 'add', 'claims', call.body))
