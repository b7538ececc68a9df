import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { flagContract } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...flagContract,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/untaint',
  summary: 'Untaint a manifest: it can be used again',
}).handle((call, { catalog }) => catalog.setFlag(toManifestCall(call), 'untaint'))
