import { endpoint } from '#lib/http/endpoint.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { SnapshotSchedule, SnapshotScheduleReference, SnapshotScheduleRules } from '#lib/snapshot-schedules/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/snapshot-schedules/{schedule}',
  summary: 'Set when snapshots of a machine are made, and which of them are kept',
  description:
    'The schedule makes snapshots and deletes those of its own that `keep` does not name, with the present rights of the caller, who needs the right to ' +
    'make and to delete them. A run that was missed is made up once. A machine that has not run since its last snapshot gets none.',
  access: { anyClaim: snapshotClaims.create },
  effect: 'change',
  uses: ['snapshotSchedules'],
  params: SnapshotScheduleReference,
  body: SnapshotScheduleRules,
  audited: ['every', 'at', 'memory', 'keep', 'max_size'],
  faults: ['not-found', 'conflict', 'unsupported'],
  reply: SnapshotSchedule,
}).handle(({ caller, params, body }, { snapshotSchedules }) =>
  snapshotSchedules.set(params.id, params.schedule, body, caller),
)
