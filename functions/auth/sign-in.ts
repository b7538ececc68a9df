import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'

const Text = z.string('must be a text').max(1024).optional()

export default endpoint({
  method: 'POST',
  path: '/v1/auth/token',
  summary: 'Sign in: a token for an e-mail address or user name and a password, or for an API key',
  access: 'public',
  effect: 'change',
  uses: ['signIn'],
  oauth: true,
  body: z.object({ email: Text, username: Text, password: Text, api_key: Text }),
  reply: z
    .object({ email: z.string(), expires_at: z.int().meta({ description: 'Seconds since 1970' }), token: z.string() })
    .meta({ id: 'Token' }),
}).handle(({ body, address, identified }, { signIn }) => signIn(body, address, identified))
