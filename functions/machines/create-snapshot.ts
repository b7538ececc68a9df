import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { CreatedSnapshot, CreateSnapshot } from '#lib/machines/snapshots/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/machines/{id}/snapshots',
  summary:
    'Make a snapshot of a machine: its disks, its hardware and, if it runs or is paused or suspended, its memory',
  description:
    'A running machine pauses until its memory is saved, and continues. Without `memory`, an agent freezes the file systems of the guest for a moment. ' +
    'A machine that uses a disk image of the host in place, or on QEMU a raw one, cannot have snapshots.',
  access: { anyClaim: snapshotClaims.create },
  effect: 'change',
  job: { type: 'machines', operation: 'snapshot', record: 'virtual_machine', repeatable: true },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  body: CreateSnapshot,
  audited: ['snapshot_name', 'memory'],
  faults: hypervisorFaults,
  reply: CreatedSnapshot,
  status: 202,
}).handle(({ caller, params, body, progress }, { machines }) =>
  machines.createSnapshot(params.id, body, { caller, progress }),
)
