import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { requireMembers } from '#lib/access/member-rules.ts'

const Text = z.string().max(1024).optional().meta({ minLength: 1 })

/** An API key, or a name with a password: what the sign-in says no to, in the words of JSON Schema. */
const credentials = {
  if: requireMembers('api_key'),
  else: { ...requireMembers('password'), anyOf: [requireMembers('email'), requireMembers('username')] },
}

export default endpoint({
  method: 'POST',
  path: '/v1/auth/token',
  summary: 'Sign in: get a token for a password (with an e-mail address or user name) or for an API key',
  access: 'public',
  effect: 'change',
  essential: true,
  uses: ['signIn'],
  oauth: true,
  body: z.object({ email: Text, username: Text, password: Text, api_key: Text }).meta(credentials),
  faults: ['unauthenticated', 'locked-out'],
  reply: z
    .object({ email: z.string(), expires_at: z.int().meta({ description: 'Seconds since 1970' }), token: z.string() })
    .meta({ id: 'Token' }),
}).handle(({ body, address, setActor }, { signIn }) => signIn(body, address, setActor))
