import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { ClonedMachine, CloneMachine, hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/clone',
  summary: 'Clone a machine; with linked=true the clone shares the disks of its source',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  job: { type: 'machines', operation: 'clone', record: 'virtual_machine', repeatable: true },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  query: z.object({ linked: z.stringbool().default(false) }),
  body: CloneMachine,
  audited: ['clone_name', 'snapshot'],
  faults: hypervisorFaults,
  reply: ClonedMachine,
}).handle(async ({ caller, params, query, body, progress }, { machines }) => {
  let consistency: z.infer<typeof ClonedMachine>['consistency']
  const onConsistency = (reached: NonNullable<typeof consistency>): void => void (consistency = reached)
  const { clone_name, snapshot } = body
  const options = { ...query, snapshot, maker: caller, progress, onConsistency }
  const id = await machines.clone(params.id, clone_name, options)
  return { id, status: 'Success', ...(consistency && { consistency }) }
})
