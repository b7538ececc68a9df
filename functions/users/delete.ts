import { UserReference } from '#lib/auth/user-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/users/{id}',
  summary: 'Delete a user with their API keys and settings',
  access: { claims: ['DELETE_USER'] },
  effect: 'change',
  essential: true,
  uses: ['users'],
  params: UserReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { users }) => {
  await users.remove(params.id, caller)
  return confirmDeletion(`The user ${params.id} was deleted.`)
})
