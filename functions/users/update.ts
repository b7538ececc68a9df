import { UpdateUser, UserReference } from '#lib/auth/user-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/auth/users/{id}',
  summary: 'Change the name, the e-mail address or the password of a user',
  access: { claims: ['UPDATE_USER'] },
  effect: 'change',
  essential: true,
  uses: ['users'],
  params: UserReference,
  body: UpdateUser,
  audited: ['name', 'email'],
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, body, caller }, { users }) => {
  await users.update(params.id, body, caller)
  return confirmDeletion(`The user ${params.id} was changed.`)
})
