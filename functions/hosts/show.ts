import { HostRecord, HostReference } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/hosts/{id}',
  summary: 'Show one host',
  access: { claims: ['LIST_HOST'] },
  effect: 'read',
  uses: ['hosts'],
  params: HostReference,
  reply: HostRecord,
}).handle(({ params }, { hosts }) => hosts.show(params.id))
