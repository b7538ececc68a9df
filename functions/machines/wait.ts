import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'
import { WaitQuery, WaitReply } from '#lib/machines/wait/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/wait',
  summary: 'Wait for a condition of a machine',
  description:
    'The reply is 200 also when the time is over; `result` tells what has happened. Waits for serial output and for ports need EXECUTE_COMMAND_VM, or a machine that the caller made. ' +
    'A wait that goes on at the cursor of the one before misses nothing in between.',
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  waits: true,
  uses: ['machines'],
  params: MachineReference,
  query: WaitQuery,
  faults: hypervisorFaults,
  reply: WaitReply,
}).handle(({ caller, params, query, signal, reauthenticate }, { machines }) =>
  machines.wait(params.id, caller, query, { signal, reauthenticate }),
)
