import { endpoint } from '#lib/http/endpoint.ts'
import { CreatedMachine, CreateMachine, CreateQuery, hypervisorFaults } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/machines',
  summary: 'Create a machine; with `until` it is started, and the reply comes when the condition is met',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  job: { type: 'machines', operation: 'create', record: 'virtual_machine' },
  acceptsWait: true,
  uses: ['machines'],
  query: CreateQuery,
  body: CreateMachine,
  // `user_data` may have 64 KiB, and each of its line ends is two characters here.
  bodyLimit: 256 * 1024,
  audited: ['name'],
  faults: hypervisorFaults,
  reply: CreatedMachine,
  status: 201,
}).handle(({ caller, query, body, progress }, { machines }) =>
  machines.create(body, { ...query, owner: caller, progress }),
)
