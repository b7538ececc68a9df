import { UserReference } from '#lib/auth/user-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/users/{id}',
  summary: 'Delete a user with their API keys and settings',
  access: { claims: ['DELETE_USER'] },
  effect: 'change',
  uses: ['users'],
  params: UserReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params, caller }, { users }) => {
  await users.remove(params.id, caller!)
  return accepted(`The user ${params.id} was deleted.`)
})
