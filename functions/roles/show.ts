import { RoleRecord, RoleReference } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/roles/{id}',
  summary: 'Show one role',
  access: { claims: ['LIST_ROLE'] },
  effect: 'read',
  uses: ['roles'],
  params: RoleReference,
  reply: RoleRecord,
}).handle(({ params }, { roles }) => roles.show(params.id))
