import * as z from 'zod'
import { SubscribeQuery } from '#lib/events/schemas.ts'
import { Upgrade } from '#lib/calls/upgrade.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/ws/subscribe',
  summary: 'Receive events over a WebSocket',
  access: 'signed-in',
  effect: 'read',
  uses: ['subscriptions'],
  query: SubscribeQuery,
  tokenInQuery: true,
  media: 'websocket',
  reply: z.unknown(),
}).handle(async ({ query, caller, address, credential, reauthenticate }, { subscriptions }) => {
  const { since, event_types: types } = query
  return new Upgrade(await subscriptions.admit({ since, types, caller, address, credential, reauthenticate }))
})
