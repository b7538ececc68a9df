import { RoleReference } from '#lib/auth/role-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/roles/{id}',
  summary: 'Delete a role that nobody has',
  access: { claims: ['DELETE_ROLE'] },
  effect: 'change',
  uses: ['roles'],
  params: RoleReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params }, { roles }) => {
  await roles.remove(params.id)
  return accepted(`The role ${params.id} was deleted.`)
})
