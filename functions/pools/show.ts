import { endpoint } from '#lib/http/endpoint.ts'
import { Pool, PoolReference } from '#lib/pools/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/pools/{name}',
  summary: 'Show a pool with its machines',
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  uses: ['pools'],
  params: PoolReference,
  reply: Pool,
}).handle(({ params }, { pools }) => pools.show(params.name))
