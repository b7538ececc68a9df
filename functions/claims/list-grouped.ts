import * as z from 'zod'
import { ClaimGroup } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/claims/grouped',
  summary: 'List the claims by what they are about',
  access: { claims: ['LIST_CLAIM'] },
  effect: 'read',
  uses: ['claims'],
  reply: z.array(ClaimGroup),
}).handle(async (_, { claims }) => [...(await claims.grouped())])
