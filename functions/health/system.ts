import { SystemHealth } from '#lib/health/health.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/health/system',
  summary: 'Show the health of each part of the service',
  access: 'signed-in',
  effect: 'read',
  uses: ['health'],
  reply: SystemHealth,
}).handle((_, { health }) => health.system())
