import { pullContract, pullJob } from '#lib/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { cancelOnDisconnect } from '#lib/http/cancel-on-disconnect.ts'

export default endpoint({
  ...pullContract,
  path: '/v1/catalog/pull',
  also: ['POST /v1/catalog/pull'],
  summary: 'Pull a machine from a catalog',
  job: pullJob,
}).handle((call, { transfers }) => transfers.pull(call.caller, call.body, cancelOnDisconnect(call)))
