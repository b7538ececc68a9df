import * as z from 'zod'
import { requireValidToken } from '#lib/auth/validate-token.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/token/validate',
  summary: 'Check whether a token is valid',
  access: 'public',
  effect: 'read',
  uses: ['tokenVerifier'],
  // A missing one is refused with `valid: false` beside.
  body: z.object({ token: z.string().optional().meta({ minLength: 1 }) }).meta({ required: ['token'] }),
  faults: ['unauthenticated'],
  reply: z.object({ valid: z.literal(true) }),
}).handle(async ({ body, connection }, { tokenVerifier }) => {
  await requireValidToken(tokenVerifier, body.token, connection)
  return { valid: true as const }
})
