import * as z from 'zod'
import { requireValidToken } from '#lib/auth/validate-token.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/token/validate',
  summary: 'Check whether the token of this request is valid',
  access: 'public',
  effect: 'read',
  uses: ['tokenVerifier'],
  faults: ['unauthenticated'],
  reply: z.object({ valid: z.literal(true), message: z.string(), code: z.literal(200) }),
}).handle(async ({ bearer, connection }, { tokenVerifier }) => {
  await requireValidToken(tokenVerifier, bearer, connection)
  return { valid: true as const, message: 'The token is valid', code: 200 as const }
})
