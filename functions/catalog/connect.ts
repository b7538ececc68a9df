import { manifestCall } from '#lib/catalog/call.ts'
import { editing } from '#lib/catalog/contracts.ts'
import { ConnectManifest } from '#lib/catalog/requests.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...editing,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/connection',
  summary: 'Give a manifest another provider, where its pack is already',
  body: ConnectManifest,
}).handle((call, { catalog }) => catalog.connect(manifestCall(call), call.body.connection))
