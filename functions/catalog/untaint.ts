import { manifestCall } from '#lib/catalog/call.ts'
import { marking } from '#lib/catalog/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...marking,
  method: 'PATCH',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/untaint',
  summary: 'Take back that a manifest is not to be used',
}).handle((call, { catalog }) => catalog.mark(manifestCall(call), 'untaint'))
