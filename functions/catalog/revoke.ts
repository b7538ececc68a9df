import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { flagContract } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...flagContract,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/revoke',
  summary: 'Revoke a manifest permanently: nobody can use it any more',
}).handle((call, { catalog }) => catalog.setFlag(toManifestCall(call), 'revoke'))
