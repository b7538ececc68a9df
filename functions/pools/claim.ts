import { endpoint } from '#lib/http/endpoint.ts'
import { claimAccess } from '#lib/pools/claim-access.ts'
import { ClaimedMachine, ClaimQuery, ClaimRequest, PoolReference } from '#lib/pools/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/pools/{name}/claim',
  summary: 'Get a machine of a pool, which runs',
  description:
    'The machine belongs to the caller from now on; delete it when it is done. Without a ready machine the call waits in line, at most ' +
    '`timeout` seconds, and then fails with 503. With the same Idempotency-Key it returns the same machine, also after a crash of the service.',
  access: claimAccess,
  effect: 'change',
  waits: true,
  resumable: true,
  uses: ['pools'],
  params: PoolReference,
  query: ClaimQuery,
  body: ClaimRequest.default({}),
  audited: ['labels', 'ttl'],
  reply: ClaimedMachine,
  status: 201,
}).handle((context, { pools }) => {
  const { caller, params, query, body, signal, reauthenticate } = context
  const key = context.header('idempotency-key')
  return pools.claim(caller, params.name, body, { ...query, key, signal, reauthenticate })
})
