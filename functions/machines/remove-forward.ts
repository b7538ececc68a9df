import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { ForwardReference } from '#lib/machines/forwards/schemas.ts'
import { hypervisorFaults } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/machines/{id}/forwards/{forward}',
  summary: 'Close a port of the host that leads to a machine; its connections stay',
  access: { claims: ['UPDATE_VM'] },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: ForwardReference,
  faults: hypervisorFaults,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, progress }, { machines }) => {
  await machines.removeForward(params.id, params.forward, { progress })
  return confirmDeletion(`The forward ${params.forward} was deleted.`)
})
