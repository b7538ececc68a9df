import { confirmDeletion, DeletionReply } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults } from '#lib/machines/schemas.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { DeleteSnapshot, SnapshotReference } from '#lib/machines/snapshots/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/machines/{id}/snapshots/{snapshot}',
  summary: 'Delete a snapshot; the machine does not change',
  description:
    'The snapshots that were made on top of it stay, unless `delete_children` is true. What it had of the disks alone is freed at once if the machine is stopped, else when the machine starts or is cloned the next time.',
  access: { anyClaim: snapshotClaims.delete },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: SnapshotReference,
  body: DeleteSnapshot,
  audited: ['delete_children'],
  faults: hypervisorFaults,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller, params, body, progress }, { machines }) => {
  const options = { caller, progress, withChildren: body.delete_children }
  const count = await machines.deleteSnapshot(params.id, params.snapshot, options)
  return confirmDeletion(
    count === 1
      ? `The snapshot ${params.snapshot} was deleted.`
      : `${count} snapshots were deleted: ${params.snapshot} and its children.`,
  )
})
