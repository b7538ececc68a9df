import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { ClonedMachine, CloneMachine, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/clone',
  summary: 'Copy a machine; linked=true shares the disks that there are',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  job: { type: 'machines', operation: 'clone', record: 'virtual_machine' },
  uses: ['machines'],
  params: MachineReference,
  query: z.object({ linked: z.stringbool().default(false) }),
  body: CloneMachine,
  audited: ['clone_name'],
  reply: ClonedMachine,
}).handle(async ({ params, query, body, work }, { machines }) => ({
  id: await machines.clone(params.id, body.clone_name, { ...query, work }),
  status: 'Success',
}))
