import { RoleClaimReference } from '#lib/auth/role-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/roles/{id}/claims/{claim}',
  summary: 'Remove a claim from a role',
  access: { claims: ['UPDATE_ROLE'] },
  effect: 'change',
  uses: ['roles'],
  params: RoleClaimReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params, caller }, { roles }) => {
  await roles.removeClaim(params.id, params.claim, caller!)
  return accepted(`The role ${params.id} does not have the claim ${params.claim} any more.`)
})
