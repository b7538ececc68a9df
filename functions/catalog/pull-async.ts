import { pullContract, pullJob } from '#lib/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  ...pullContract,
  path: '/v1/catalog/pull/async',
  also: ['POST /v1/catalog/pull/async'],
  summary: 'Start a pull; the reply is its job',
  job: { ...pullJob, detached: true },
}).handle((call, { transfers }) => transfers.pull(call.caller, call.body, call.progress))
