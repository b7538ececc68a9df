import { endpoint } from '#lib/http/endpoint.ts'
import { NewPool, Pool } from '#lib/pools/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/pools',
  summary: 'Define a pool, which keeps machines ready for claims',
  description:
    'The pool makes its machines in the background; GET shows them, and why one could not be made. Until it is claimed, a machine belongs to nobody. ' +
    'A machine can be the source only for who may enter it, because who claims a copy gets its content.',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  uses: ['pools'],
  body: NewPool,
  // As that of a machine, which a template has.
  bodyLimit: 256 * 1024,
  audited: ['name', 'from', 'min', 'max'],
  faults: ['not-found', 'conflict'],
  reply: Pool,
  status: 201,
}).handle(({ caller, body }, { pools }) => pools.create(caller, body))
