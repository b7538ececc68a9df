import { UserClaimReference } from '#lib/auth/user-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/users/{id}/claims/{claim}',
  summary: 'Take a claim from a user',
  access: { claims: ['UPDATE_USER'] },
  effect: 'change',
  essential: true,
  uses: ['users'],
  params: UserClaimReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { users }) => {
  await users.revokeClaim(params.id, params.claim, caller)
  return confirmDeletion(`The user ${params.id} does not have the claim ${params.claim} any more.`)
})
