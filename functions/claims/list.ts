import * as z from 'zod'
import { ClaimWithUsers } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/claims',
  summary: 'List the claims and the users who hold them directly',
  access: { claims: ['LIST_CLAIM'] },
  effect: 'read',
  uses: ['claims'],
  filter: true,
  reply: z.array(ClaimWithUsers),
}).handle(async (_, { claims }) => [...(await claims.list())])
