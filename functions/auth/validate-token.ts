import * as z from 'zod'
import { continueWith } from '#lib/async/maybe-promise.ts'
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
}).handle(({ body, connection }, { tokenVerifier }) =>
  continueWith(requireValidToken(tokenVerifier, body.token, connection), () => ({ valid: true as const })),
)
