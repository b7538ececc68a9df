import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { editListsContract } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editListsContract,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/claims',
  summary: 'Add claims, roles and tags to a manifest',
}).handle((call, { catalog }) => catalog.edit(toManifestCall(call), 'add', 'claims', call.body))
