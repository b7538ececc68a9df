import { UserRoleReference } from '#lib/auth/user-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/users/{id}/roles/{role}',
  summary: 'Take a role from a user',
  access: { claims: ['UPDATE_USER'] },
  effect: 'change',
  essential: true,
  uses: ['users'],
  params: UserRoleReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { users }) => {
  await users.revokeRole(params.id, params.role, caller)
  return confirmDeletion(`The user ${params.id} does not have the role ${params.role} any more.`)
})
