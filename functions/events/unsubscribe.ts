import * as z from 'zod'
import { Unsubscribe } from '#lib/events/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/ws/unsubscribe',
  summary: 'Stop receiving some types of events over a WebSocket',
  access: 'signed-in',
  effect: 'change',
  uses: ['subscriptions'],
  body: Unsubscribe,
  faults: ['not-found', 'forbidden'],
  reply: z.object({ code: z.literal(200), message: z.string() }),
}).handle(({ body, caller }, { subscriptions }) => {
  subscriptions.unsubscribe(body.client_id, body.event_types, caller)
  return { code: 200 as const, message: `Unsubscribed from ${body.event_types.join(', ')}.` }
})
