import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/health/probe',
  summary: 'Tell that the service answers',
  access: 'public',
  effect: 'read',
  uses: [],
  reply: z.object({ status: z.literal('OK') }),
}).handle(() => ({ status: 'OK' }))
