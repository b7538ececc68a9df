import { ClaimReference, ClaimWithUsers } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/claims/{id}',
  summary: 'Show one claim',
  access: { claims: ['LIST_CLAIM'] },
  effect: 'read',
  uses: ['claims'],
  params: ClaimReference,
  reply: ClaimWithUsers,
}).handle(({ params }, { claims }) => claims.show(params.id))
