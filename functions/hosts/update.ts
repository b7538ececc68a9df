import { HostRecord, HostReference, UpdateHost } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/hosts/{id}',
  summary: 'Change the address or the labels of a host',
  // Who changes the address decides where the rights of users are sent.
  access: { roles: ['SUPER_USER'], claims: ['UPDATE_HOST'] },
  effect: 'change',
  uses: ['hosts'],
  params: HostReference,
  body: UpdateHost,
  audited: ['url', 'labels'],
  reply: HostRecord,
}).handle(({ params, body }, { hosts }) => hosts.update(params.id, body))
