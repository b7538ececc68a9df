import { endpoint } from '#lib/http/endpoint.ts'
import { MachineReference, MachineStatus } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/status',
  summary: "Show a machine's state and address",
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  uses: ['machines'],
  params: MachineReference,
  reply: MachineStatus,
}).handle(({ params }, { machines }) => machines.showStatus(params.id))
