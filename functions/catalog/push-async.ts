import { pushing, pushJob } from '#lib/catalog/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...pushing,
  path: '/v1/catalog/push/async',
  summary: 'Begin a push; the answer is its job',
  job: { ...pushJob, detached: true },
}).handle(async (call, { transfers }) => [await transfers.push(call.caller!, call.body, call.work)])
