import { SystemHealth } from '#lib/health/health.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/health/system',
  summary: 'Tell how each part of the service is',
  access: 'signed-in',
  effect: 'read',
  uses: ['health'],
  reply: SystemHealth,
}).handle((_, { health }) => health.system())
