import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { MachineRecord } from '#lib/machines/record.ts'
import { MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}',
  summary: 'Show one machine, as an array of one record',
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  uses: ['machines'],
  params: MachineReference,
  reply: z.array(MachineRecord),
}).handle(({ params }, { machines }) => [machines.show(params.id)])
