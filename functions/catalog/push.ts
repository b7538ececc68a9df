import { pushing, pushJob } from '#lib/catalog/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { untilGone } from '#lib/http/until-gone.ts'

export default endpoint({
  ...pushing,
  path: '/v1/catalog/push',
  summary: 'Pack a machine, upload it and register it in the catalog',
  job: pushJob,
}).handle(async (call, { transfers }) => [await transfers.push(call.caller!, call.body, untilGone(call))])
