import { Session } from '#lib/auth/browser/schemas.ts'
import { toSession } from '#lib/auth/browser/sessions.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/session',
  summary: 'Show who is signed in, with the present rights',
  access: 'signed-in',
  effect: 'read',
  uses: [],
  reply: Session,
}).handle(({ caller }) => toSession(caller))
