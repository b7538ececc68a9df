import { ClaimReference } from '#lib/auth/role-schemas.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/claims/{id}',
  summary: 'Delete an added claim that no user holds',
  access: { claims: ['DELETE_CLAIM'] },
  effect: 'change',
  uses: ['claims'],
  params: ClaimReference,
  reply: Accepted,
  status: 202,
}).handle(async ({ params, caller }, { claims }) => {
  await claims.remove(params.id, caller!)
  return accepted(`The claim ${params.id} was deleted.`)
})
