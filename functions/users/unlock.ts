import { UserReference } from '#lib/auth/user-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/users/{id}/lock',
  summary: 'Let a user sign in again after too many wrong passwords',
  access: { claims: ['UPDATE_USER'] },
  effect: 'change',
  uses: ['users'],
  params: UserReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { users }) => {
  await users.unlock(params.id, caller)
  return confirmDeletion(`The user ${params.id} can sign in again.`)
})
