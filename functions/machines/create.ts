import { endpoint } from '#lib/http/endpoint.ts'
import { CreatedMachine, CreateMachine, hypervisorFaults } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/machines',
  summary: 'Create a machine',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  job: { type: 'machines', operation: 'create', record: 'virtual_machine' },
  uses: ['machines'],
  body: CreateMachine,
  audited: ['name'],
  faults: hypervisorFaults,
  reply: CreatedMachine,
  status: 201,
}).handle(({ body }, { machines }) => machines.create(body))
