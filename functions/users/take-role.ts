import { UserRoleReference } from '#lib/auth/user-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/users/{id}/roles/{role}',
  summary: 'Take a role from a user',
  access: { claims: ['UPDATE_USER'] },
  effect: 'change',
  uses: ['users'],
  params: UserRoleReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params, caller }, { users }) => {
  await users.takeRole(params.id, params.role, caller!)
  return accepted(`The user ${params.id} does not have the role ${params.role} any more.`)
})
