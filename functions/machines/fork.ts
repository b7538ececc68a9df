import { endpoint } from '#lib/http/endpoint.ts'
import { ForkedMachines, ForkMachine } from '#lib/machines/forks/schemas.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/machines/{id}/fork',
  summary: 'Fork a machine: make copies of it that run on from its present moment, or from that of a snapshot',
  description:
    'The machine runs or is paused. It has a short pause, in which its memory is copied; then it is as before, and all forks run. They share ' +
    'its disks and, on QEMU, that copy of its memory, and each keeps its own changes. A fork has its own id and MAC addresses, and no ' +
    'forwards; on QEMU it has its own `vmgenid` too. ' +
    'With `snapshot` the machine may be in any state and does not change: the forks go on with the memory of the snapshot, or boot if it has none. ' +
    'The reply names what each guest takes over when it answers, and what the forks have in common with the machine.',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  body: ForkMachine,
  audited: ['snapshot', 'count', 'names', 'ephemeral', 'ttl'],
  faults: hypervisorFaults,
  reply: ForkedMachines,
  status: 201,
}).handle(({ caller, params, body, progress }, { machines }) =>
  machines.fork(params.id, body, { maker: caller, progress }),
)
