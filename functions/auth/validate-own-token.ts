import * as z from 'zod'
import { requireValid } from '#lib/auth/validate.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/token/validate',
  summary: 'Tell whether the token that this request carries is valid',
  access: 'public',
  effect: 'read',
  uses: ['tokens'],
  reply: z.object({ valid: z.literal(true), message: z.string(), code: z.literal(200) }),
}).handle(async ({ bearer }, { tokens }) => {
  await requireValid(tokens, bearer)
  return { valid: true as const, message: 'The token is valid', code: 200 as const }
})
