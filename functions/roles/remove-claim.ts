import { RoleClaimReference } from '#lib/auth/role-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/roles/{id}/claims/{claim}',
  summary: 'Remove a claim from a role',
  access: { claims: ['UPDATE_ROLE'] },
  effect: 'change',
  essential: true,
  uses: ['roles'],
  params: RoleClaimReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { roles }) => {
  await roles.removeClaim(params.id, params.claim, caller)
  return confirmDeletion(`The role ${params.id} does not have the claim ${params.claim} any more.`)
})
