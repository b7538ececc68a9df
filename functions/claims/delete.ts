import { ClaimReference } from '#lib/auth/role-schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/claims/{id}',
  summary: 'Delete a claim that was added here and that no user holds',
  access: { claims: ['DELETE_CLAIM'] },
  effect: 'change',
  essential: true,
  uses: ['claims'],
  params: ClaimReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { claims }) => {
  await claims.remove(params.id, caller)
  return confirmDeletion(`The claim ${params.id} was deleted.`)
})
