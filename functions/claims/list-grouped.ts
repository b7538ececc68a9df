import * as z from 'zod'
import { ClaimGroup } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/claims/grouped',
  summary: 'List the claims, grouped by what they protect',
  access: { claims: ['LIST_CLAIM'] },
  effect: 'read',
  uses: ['claims'],
  reply: z.array(ClaimGroup),
}).handle(async (_, { claims }) => [...(await claims.grouped())])
