import { confirmDeletion, DeletionReply } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/machines/{id}/snapshots',
  summary: 'Delete all snapshots of a machine; the machine does not change',
  access: { anyClaim: snapshotClaims.deleteAll },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  faults: hypervisorFaults,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller, params, progress }, { machines }) => {
  const count = await machines.deleteSnapshots(params.id, { caller, progress })
  return confirmDeletion(count === 1 ? '1 snapshot was deleted.' : `${count} snapshots were deleted.`)
})
