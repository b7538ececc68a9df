import { endpoint } from '#lib/http/endpoint.ts'
import { MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/start',
  also: ['PUT /v1/machines/{id}/start'],
  summary: 'Start a machine; a paused or suspended one goes on',
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'start', record: 'virtual_machine', repeatable: true },
  uses: ['machines'],
  params: MachineReference,
  reply: OperationResult,
}).handle(({ params, work }, { machines }) => machines.run(params.id, 'start', { signal: work.signal }))
