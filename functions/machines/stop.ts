import { endpoint } from '#lib/http/endpoint.ts'
import { ForceQuery, hypervisorFaults, MachineReference, OperationResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/stop',
  also: ['PUT /v1/machines/{id}/stop'],
  summary: 'Shut a machine down; force=true cuts its power',
  access: { claims: ['UPDATE_VM_STATES'] },
  effect: 'change',
  job: { type: 'machines', operation: 'stop', record: 'virtual_machine', repeatable: true },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  query: ForceQuery,
  faults: hypervisorFaults,
  reply: OperationResult,
}).handle(({ params, query, progress }, { machines }) => machines.run(params.id, 'stop', { ...query, progress }))
