import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { flagContract } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...flagContract,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/taint',
  summary: 'Taint a manifest: nobody can use it until it is untainted',
}).handle((call, { catalog }) => catalog.setFlag(toManifestCall(call), 'taint'))
