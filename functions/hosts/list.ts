import * as z from 'zod'
import { HostRecord } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/hosts',
  summary: 'List the hosts that this service controls',
  access: { claims: ['LIST_HOST'] },
  effect: 'read',
  uses: ['hosts'],
  filter: true,
  reply: z.array(HostRecord),
}).handle((_, { hosts }) => [...hosts.list()])
