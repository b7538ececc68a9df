import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { Pool } from '#lib/pools/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/pools',
  summary: 'List the pools',
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  uses: ['pools'],
  filter: true,
  reply: z.array(Pool),
}).handle((_, { pools }) => [...pools.list()])
