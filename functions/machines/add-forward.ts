import { endpoint } from '#lib/http/endpoint.ts'
import { ForwardRecord, NewForward } from '#lib/machines/forwards/schemas.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/machines/{id}/forwards',
  summary: 'Open a port of the host that leads to a port of a machine',
  description:
    'The port is open whenever the machine runs: at once if it runs now. It leads to the isolated card of the machine, which must take its ' +
    'address by DHCP. `host_address` is 127.0.0.1 if left out; other addresses than the loopback need the setting `forward_addresses`. ' +
    'A clone of the machine has no forwards.',
  access: { claims: ['UPDATE_VM'] },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  body: NewForward,
  audited: ['protocol', 'host_address', 'host_port', 'guest_port'],
  faults: hypervisorFaults,
  reply: ForwardRecord,
  status: 201,
}).handle(({ params, body, progress }, { machines }) => machines.addForward(params.id, body, { progress }))
