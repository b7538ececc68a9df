import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/suspend',
  also: ['PUT /v1/machines/{id}/suspend'],
  summary: "Save a machine's memory to disk and stop it",
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'suspend', record: 'virtual_machine', repeatable: true },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  faults: hypervisorFaults,
  reply: OperationResult,
}).handle(({ params, progress }, { machines }) => machines.run(params.id, 'suspend', { progress }))
