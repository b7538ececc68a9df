import { pushContract, pushJob } from '#lib/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...pushContract,
  path: '/v1/catalog/push/async',
  summary: 'Start a push; the reply is its job',
  job: { ...pushJob, detached: true },
}).handle(async (call, { transfers }) => [await transfers.push(call.caller, call.body, call.progress)])
