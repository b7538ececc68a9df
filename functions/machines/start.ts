import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/start',
  also: ['PUT /v1/machines/{id}/start'],
  summary: 'Start a machine; resume it if it is paused or suspended',
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'start', record: 'virtual_machine', repeatable: true },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  faults: hypervisorFaults,
  reply: OperationResult,
}).handle(({ params, progress }, { machines }) => machines.run(params.id, 'start', { progress }))
