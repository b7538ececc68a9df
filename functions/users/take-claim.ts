import { UserClaimReference } from '#lib/auth/user-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/users/{id}/claims/{claim}',
  summary: 'Take a claim from a user',
  access: { claims: ['UPDATE_USER'] },
  effect: 'change',
  uses: ['users'],
  params: UserClaimReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params, caller }, { users }) => {
  await users.takeClaim(params.id, params.claim, caller!)
  return accepted(`The user ${params.id} does not have the claim ${params.claim} any more.`)
})
