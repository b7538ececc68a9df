import { HostRecord, HostReference } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/hosts/{id}/drain',
  summary: 'Give a host no new machines; those that it has stay',
  access: { claims: ['UPDATE_HOST'] },
  effect: 'change',
  uses: ['hosts'],
  params: HostReference,
  reply: HostRecord,
}).handle(({ params }, { hosts }) => hosts.setDrained(params.id, true))
