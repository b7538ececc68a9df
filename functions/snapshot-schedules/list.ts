import { endpoint } from '#lib/http/endpoint.ts'
import { MachineReference } from '#lib/machines/schemas.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { SnapshotScheduleList } from '#lib/snapshot-schedules/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/snapshot-schedules',
  summary: 'List the schedules of snapshots of a machine, ordered by name',
  access: { anyClaim: snapshotClaims.list },
  effect: 'read',
  uses: ['snapshotSchedules'],
  params: MachineReference,
  reply: SnapshotScheduleList,
}).handle(({ caller, params }, { snapshotSchedules }) => ({ schedules: snapshotSchedules.list(params.id, caller) }))
