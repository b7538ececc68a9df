import * as z from 'zod'
import { Session } from '#lib/auth/browser/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/session',
  summary: 'Sign in a browser: the reply sets a cookie with a token',
  description:
    'For the web console. The cookie counts only together with the header X-VMHost-Console, which this request needs too. Programs use POST /v1/auth/token.',
  access: 'public',
  effect: 'change',
  essential: true,
  uses: ['browserSessions'],
  body: z.object({
    name: z.string().min(1).max(1024).meta({ description: 'User name or e-mail address' }),
    password: z.string().min(1).max(1024),
  }),
  faults: ['unauthenticated', 'forbidden', 'locked-out'],
  reply: Session,
  status: 201,
}).handle((call, { browserSessions }) => browserSessions.open(call.body.name, call.body.password, call))
