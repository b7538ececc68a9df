import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults } from '#lib/machines/schemas.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { RevertToSnapshot, SnapshotRecord, SnapshotReference } from '#lib/machines/snapshots/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/machines/{id}/snapshots/{snapshot}/revert',
  summary: 'Give a machine the disks, the hardware and the memory of a snapshot; what it is now is dropped',
  description:
    'With memory the guest continues where it was; without memory the machine is stopped. The name, the labels, the limits and the forwards of the machine stay. ' +
    'Disks that it got later are detached.',
  access: { anyClaim: snapshotClaims.revert },
  effect: 'change',
  job: { type: 'machines', operation: 'revert', record: 'virtual_machine' },
  acceptsWait: true,
  uses: ['machines'],
  params: SnapshotReference,
  body: RevertToSnapshot,
  audited: ['skip_resume'],
  faults: hypervisorFaults,
  reply: SnapshotRecord,
  status: 202,
}).handle(({ caller, params, body, progress }, { machines }) =>
  machines.revertToSnapshot(params.id, params.snapshot, { caller, progress, skipResume: body.skip_resume }),
)
