import { endpoint } from '#lib/http/endpoint.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { SnapshotRecord, SnapshotReference } from '#lib/machines/snapshots/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/snapshots/{snapshot}',
  summary: 'Show a snapshot',
  access: { anyClaim: snapshotClaims.list },
  effect: 'read',
  uses: ['machines'],
  params: SnapshotReference,
  reply: SnapshotRecord,
}).handle(({ caller, params }, { machines }) => machines.showSnapshot(params.id, params.snapshot, { caller }))
