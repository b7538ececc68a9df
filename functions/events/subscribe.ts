import * as z from 'zod'
import { SubscribeQuery } from '#lib/events/schemas.ts'
import { Upgrade } from '#lib/http/upgrade.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/ws/subscribe',
  summary: 'Follow events over a WebSocket',
  access: 'signed-in',
  effect: 'read',
  uses: ['subscriptions'],
  query: SubscribeQuery,
  tokenInQuery: true,
  reply: z.unknown(),
}).handle(async ({ query, caller, address, again }, { subscriptions }) => {
  const { since, event_types: types } = query
  return new Upgrade(await subscriptions.admit({ since, types, caller: caller!, address, again }))
})
