import { endpoint } from '#lib/http/endpoint.ts'
import { Pool, PoolDefinition, PoolReference } from '#lib/pools/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/pools/{name}',
  summary: 'Replace the definition of a pool',
  description:
    'If the pool makes other machines from now on, its ready ones are replaced. Claimed machines stay as they are.',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  uses: ['pools'],
  params: PoolReference,
  body: PoolDefinition,
  bodyLimit: 256 * 1024,
  audited: ['from', 'min', 'max'],
  reply: Pool,
}).handle(({ caller, params, body }, { pools }) => pools.update(caller, params.name, body))
