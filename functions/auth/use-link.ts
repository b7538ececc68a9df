import * as z from 'zod'
import { Session } from '#lib/auth/browser/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/links/use',
  summary: 'Set a password with a link and sign in the browser; the link is used up',
  description: 'The reply sets a cookie as that of POST /v1/auth/session does, and needs the same header.',
  access: 'public',
  effect: 'change',
  essential: true,
  uses: ['browserSessions'],
  body: z.object({
    secret: z.string().min(1).max(128).meta({ description: 'The part of the link after #/link/' }),
    password: z.string().min(1).max(1024).meta({ description: 'The new password' }),
  }),
  faults: ['unauthenticated', 'forbidden', 'conflict'],
  reply: Session,
  status: 201,
}).handle((call, { browserSessions }) => browserSessions.openByLink(call.body.secret, call.body.password, call))
