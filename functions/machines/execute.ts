import { endpoint } from '#lib/http/endpoint.ts'
import { ExecuteInMachine, ExecuteResult } from '#lib/machines/guest/execute-schemas.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/execute',
  summary: 'Run a command in a running machine, by its guest agent',
  description:
    'A caller without EXECUTE_COMMAND_VM may do it in the machines that they made. The reply is 200 whatever the exit code. When the caller disconnects, or cancels the job, the command is killed with all that it has started.',
  access: { anyClaim: ['EXECUTE_COMMAND_VM', 'LIST_VM'] },
  effect: 'change',
  job: { type: 'machines', operation: 'execute', record: 'virtual_machine' },
  uses: ['machines'],
  params: MachineReference,
  body: ExecuteInMachine,
  bodyLimit: 2 * 2 ** 20,
  // Neither what is run nor what it runs with: either may hold a secret.
  audited: ['user'],
  faults: hypervisorFaults,
  secretReply: true,
  reply: ExecuteResult,
}).handle(({ caller, params, body, progress, signal }, { machines }) =>
  machines.execute(params.id, caller, body, progress.id === undefined ? signal : progress.signal),
)
