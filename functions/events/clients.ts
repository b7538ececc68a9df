import * as z from 'zod'
import { ClientRecord } from '#lib/events/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/ws/clients',
  summary: 'List the WebSockets that receive events',
  access: { roles: ['SUPER_USER'] },
  effect: 'read',
  uses: ['subscriptions'],
  reply: z.array(ClientRecord),
}).handle(async (_, { subscriptions }) => [...(await subscriptions.clients())])
