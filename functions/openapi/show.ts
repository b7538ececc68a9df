import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/openapi.json',
  summary: 'Describe the endpoints that are served, as OpenAPI 3.1',
  access: 'public',
  effect: 'read',
  uses: ['openapi'],
  hasETag: true,
  reply: z.record(z.string(), z.unknown()),
}).handle((_, { openapi }) => openapi.document())
