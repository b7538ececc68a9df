import { pushContract, pushJob } from '#lib/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { cancelOnDisconnect } from '#lib/http/cancel-on-disconnect.ts'

export default endpoint({
  ...pushContract,
  path: '/v1/catalog/push',
  summary: 'Pack a machine, upload it and register it in the catalog',
  job: pushJob,
  acceptsWait: true,
}).handle(async (call, { transfers }) => [await transfers.push(call.caller, call.body, cancelOnDisconnect(call))])
