import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { MachineRecord } from '#lib/machines/record.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines',
  summary: 'List the machines of this host',
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  uses: ['machines'],
  filter: true,
  hasETag: true,
  reply: z.array(MachineRecord),
}).handle((_, { machines }) => machines.list())
