import * as z from 'zod'
import { RoleRecord } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/roles',
  summary: 'List the roles',
  access: { claims: ['LIST_ROLE'] },
  effect: 'read',
  uses: ['roles'],
  filter: true,
  reply: z.array(RoleRecord),
}).handle(async (_, { roles }) => [...(await roles.list())])
