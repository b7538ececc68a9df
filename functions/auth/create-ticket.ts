import { CreateTicket, IssuedTicket } from '#lib/auth/tickets/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/tickets',
  summary: 'Issue a ticket for a WebSocket',
  description:
    'Browsers cannot set headers of a WebSocket. The ticket goes into its query in place of a token. It is for exactly this path and query, once, within 30 seconds, with the rights that you have then.',
  access: 'signed-in',
  effect: 'change',
  uses: ['tickets'],
  body: CreateTicket,
  secretReply: true,
  reply: IssuedTicket,
  status: 201,
}).handle(({ body, caller, credential }, { tickets }) => tickets.issue(credential, caller, body.path))
