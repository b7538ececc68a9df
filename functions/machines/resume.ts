import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/resume',
  also: ['PUT /v1/machines/{id}/resume'],
  summary: 'Resume a paused or suspended machine',
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'resume', record: 'virtual_machine', repeatable: true },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  faults: hypervisorFaults,
  reply: OperationResult,
}).handle(({ params, progress }, { machines }) => machines.run(params.id, 'resume', { progress }))
