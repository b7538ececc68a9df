import { CreateRole, RoleRecord } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/roles',
  summary: 'Create a role',
  access: { claims: ['CREATE_ROLE'] },
  effect: 'change',
  uses: ['roles'],
  body: CreateRole,
  audited: ['name', 'claims'],
  faults: ['not-found'],
  reply: RoleRecord,
  status: 201,
}).handle(({ body, caller }, { roles }) => roles.add(body, caller))
