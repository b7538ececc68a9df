import { Named, UserReference } from '#lib/auth/user-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/users/{id}/claims',
  summary: 'Give a user a claim',
  access: { claims: ['UPDATE_USER'] },
  effect: 'change',
  uses: ['users'],
  params: UserReference,
  body: Named,
  audited: ['name'],
  reply: Named,
  status: 201,
}).handle(async ({ params, body, caller }, { users }) => {
  await users.grantClaim(params.id, body.name, caller)
  return body
})
