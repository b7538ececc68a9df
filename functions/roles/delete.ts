import { RoleReference } from '#lib/auth/role-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/roles/{id}',
  summary: 'Delete a role that nobody has',
  access: { claims: ['DELETE_ROLE'] },
  effect: 'change',
  essential: true,
  uses: ['roles'],
  params: RoleReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params }, { roles }) => {
  await roles.remove(params.id)
  return confirmDeletion(`The role ${params.id} was deleted.`)
})
