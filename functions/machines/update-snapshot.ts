import { endpoint } from '#lib/http/endpoint.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { SnapshotRecord, SnapshotReference, UpdateSnapshot } from '#lib/machines/snapshots/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/snapshots/{snapshot}',
  summary: 'Change the name or the description of a snapshot',
  access: { anyClaim: snapshotClaims.create },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: SnapshotReference,
  body: UpdateSnapshot,
  audited: ['snapshot_name'],
  reply: SnapshotRecord,
}).handle(({ caller, params, body, progress }, { machines }) =>
  machines.updateSnapshot(params.id, params.snapshot, body, { caller, progress }),
)
