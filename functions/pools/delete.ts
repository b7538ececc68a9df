import { confirmDeletion, DeletionReply } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { DeletePoolQuery, PoolReference } from '#lib/pools/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/pools/{name}',
  summary: 'Delete a pool; claimed machines stay, and with members=keep the ready ones too',
  access: { claims: ['CREATE_VM'] },
  effect: 'change',
  uses: ['pools'],
  params: PoolReference,
  query: DeletePoolQuery,
  audited: ['members'],
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, query }, { pools }) => {
  const { name } = await pools.remove(params.name, query.members)
  return confirmDeletion(`The pool ${name} was deleted.`)
})
