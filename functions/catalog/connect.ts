import { toManifestCall } from '#lib/catalog/manifest-call.ts'
import { editContract } from '#lib/catalog/contracts.ts'
import { ConnectManifest } from '#lib/catalog/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editContract,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/connection',
  summary: 'Change the connection of a manifest whose pack is on the new provider already',
  body: ConnectManifest,
}).handle((call, { catalog }) => catalog.connect(toManifestCall(call), call.body.connection))
