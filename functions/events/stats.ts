import { SubscriptionStats } from '#lib/events/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/ws/stats',
  summary: 'Show statistics of the WebSockets that receive events',
  access: { roles: ['SUPER_USER'] },
  effect: 'read',
  uses: ['subscriptions'],
  reply: SubscriptionStats,
}).handle((_, { subscriptions }) => subscriptions.stats())
