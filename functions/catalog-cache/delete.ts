import * as z from 'zod'
import { Segment } from '#lib/catalog/reference.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog/cache/{catalogId}',
  also: [
    'DELETE /v1/catalog/cache/{catalogId}/{version}',
    'DELETE /v1/cache/{catalogId}',
    'DELETE /v1/cache/{catalogId}/{version}',
  ],
  summary: 'Delete the cached machines of a catalog id, or of one of its versions',
  access: { claims: ['DELET_CACHE_ITEM'] },
  effect: 'change',
  uses: ['catalogCache'],
  params: z.object({ catalogId: Segment, version: Segment.optional() }),
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller, params }, { catalogCache }) => {
  const count = await catalogCache.remove(caller, params)
  return confirmDeletion(`${count === 1 ? '1 item was' : `${count} items were`} deleted from the cache.`)
})
