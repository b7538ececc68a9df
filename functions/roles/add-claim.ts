import { ClaimRecord, RoleReference } from '#lib/auth/role-schemas.ts'
import { Named } from '#lib/auth/user-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/roles/{id}/claims',
  summary: 'Add a claim to a role',
  access: { claims: ['UPDATE_ROLE'] },
  effect: 'change',
  uses: ['roles'],
  params: RoleReference,
  body: Named,
  audited: ['name'],
  reply: ClaimRecord,
  status: 201,
}).handle(({ params, body, caller }, { roles }) => roles.addClaim(params.id, body.name, caller))
