import { endpoint } from '#lib/http/endpoint.ts'
import { MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/resume',
  also: ['PUT /v1/machines/{id}/resume'],
  summary: 'Let a paused or suspended machine go on',
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'resume', record: 'virtual_machine', repeatable: true },
  uses: ['machines'],
  params: MachineReference,
  reply: OperationResult,
}).handle(({ params, work }, { machines }) => machines.run(params.id, 'resume', { signal: work.signal }))
