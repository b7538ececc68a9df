import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { MachineReference } from '#lib/machines/schemas.ts'
import { snapshotClaims } from '#lib/machines/snapshots/access.ts'
import { SnapshotList } from '#lib/machines/snapshots/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/machines/{id}/snapshots',
  summary: 'List the snapshots of a machine, the oldest first; with group=true as trees',
  access: { anyClaim: snapshotClaims.list },
  effect: 'read',
  uses: ['machines'],
  params: MachineReference,
  query: z.object({
    group: z.stringbool().default(false).meta({
      description: 'true: a snapshot is among the children of the one that the machine was on when it was made',
    }),
  }),
  reply: SnapshotList,
  status: 202,
}).handle(({ caller, params, query }, { machines }) => ({
  snapshots: machines.listSnapshots(params.id, { caller, asTree: query.group }),
}))
