import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/metrics',
  summary: 'Show metrics of the service for Prometheus',
  access: 'signed-in',
  effect: 'read',
  uses: ['metrics'],
  media: 'text/plain',
  reply: z.unknown(),
}).handle((_, { metrics }) => metrics.render())
