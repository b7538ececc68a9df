import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { HostReference } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/hosts/{id}',
  summary: 'Remove a host and its key; its machines stay on it',
  access: { claims: ['DELETE_HOST'] },
  effect: 'change',
  essential: true,
  uses: ['hosts'],
  params: HostReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params }, { hosts }) => {
  await hosts.remove(params.id)
  return confirmDeletion(`The host ${params.id} was removed.`)
})
