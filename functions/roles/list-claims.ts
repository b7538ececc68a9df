import * as z from 'zod'
import { ClaimRecord, RoleReference } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/roles/{id}/claims',
  summary: 'List the claims of a role',
  access: { claims: ['LIST_ROLE'] },
  effect: 'read',
  uses: ['roles'],
  params: RoleReference,
  reply: z.array(ClaimRecord),
}).handle(async ({ params }, { roles }) => (await roles.show(params.id)).claims)
