import { endpoint } from '#lib/http/endpoint.ts'
import { CloudInitStatus } from '#lib/machines/guest/cloud-init-schemas.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/cloud-init',
  summary: 'Show how far the cloud-init of a running machine is, by its guest agent',
  description: 'The guest is asked for each request. The reply has nothing of what cloud-init is told.',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'read',
  uses: ['machines'],
  params: MachineReference,
  faults: ['forbidden', 'conflict', ...hypervisorFaults],
  reply: CloudInitStatus,
}).handle(({ caller, params, signal }, { machines }) => machines.readCloudInitStatus(params.id, caller, signal))
