import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/health/probe',
  summary: 'Check that the service answers and accepts changes',
  access: 'public',
  effect: 'read',
  uses: ['readiness'],
  reply: z.object({ status: z.literal('OK') }),
}).handle((_, { readiness }) => {
  readiness.check()
  return { status: 'OK' }
})
