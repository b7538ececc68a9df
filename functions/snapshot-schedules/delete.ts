import { confirmDeletion, DeletionReply } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { SnapshotScheduleReference } from '#lib/snapshot-schedules/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/machines/{id}/snapshot-schedules/{schedule}',
  summary: 'Delete a schedule of snapshots; the snapshots that it has made stay',
  access: { anyClaim: snapshotClaims.create },
  effect: 'change',
  uses: ['snapshotSchedules'],
  params: SnapshotScheduleReference,
  faults: ['unsupported'],
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller, params }, { snapshotSchedules }) => {
  await snapshotSchedules.remove(params.id, params.schedule, caller)
  return confirmDeletion(`The schedule ${params.schedule} was deleted.`)
})
