import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/restart',
  also: ['PUT /v1/machines/{id}/restart'],
  summary: 'Shut a machine down and start it again',
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'restart', record: 'virtual_machine' },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  faults: hypervisorFaults,
  reply: OperationResult,
}).handle(({ params, progress }, { machines }) => machines.run(params.id, 'restart', { progress }))
