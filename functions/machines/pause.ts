import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/pause',
  also: ['PUT /v1/machines/{id}/pause'],
  summary: 'Halt a machine in memory',
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'pause', record: 'virtual_machine', repeatable: true },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  faults: hypervisorFaults,
  reply: OperationResult,
}).handle(({ params, progress }, { machines }) => machines.run(params.id, 'pause', { progress }))
