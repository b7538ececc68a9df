import * as z from 'zod'
import { requireValid } from '#lib/auth/validate.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/token/validate',
  summary: 'Tell whether a token is valid',
  access: 'public',
  effect: 'read',
  uses: ['tokens'],
  body: z.object({ token: z.string('must be a text').optional() }),
  reply: z.object({ valid: z.literal(true) }),
}).handle(async ({ body }, { tokens }) => {
  await requireValid(tokens, body.token)
  return { valid: true as const }
})
