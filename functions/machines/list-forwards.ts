import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { ForwardRecord } from '#lib/machines/forwards/schemas.ts'
import { MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/forwards',
  summary: 'List the ports of the host that lead to ports of a machine',
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  uses: ['machines'],
  params: MachineReference,
  reply: z.array(ForwardRecord),
}).handle(({ params }, { machines }) => [...machines.listForwards(params.id)])
