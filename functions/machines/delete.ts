import { endpoint } from '#lib/http/endpoint.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { ForceQuery, hypervisorFaults, MachineReference } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/machines/{id}',
  summary: 'Delete a stopped machine; force=true stops it first',
  access: { claims: ['DELETE_VM'] },
  effect: 'change',
  job: { type: 'machines', operation: 'delete' },
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  query: ForceQuery,
  faults: hypervisorFaults,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, query, progress }, { machines }) => {
  await machines.remove(params.id, { ...query, progress })
  return confirmDeletion(`The machine ${params.id} was deleted.`)
})
