import { manifestCall } from '#lib/catalog/call.ts'
import { marking } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...marking,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/revoke',
  summary: 'Mark a manifest as never to be used again',
}).handle((call, { catalog }) => catalog.mark(manifestCall(call), 'revoke'))
