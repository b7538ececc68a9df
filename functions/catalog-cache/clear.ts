import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog/cache',
  also: ['DELETE /v1/cache'],
  summary: 'Delete all cached machines that are not in use',
  access: { claims: ['DELETE_ALL_CACHE'] },
  effect: 'change',
  uses: ['catalogCache'],
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller }, { catalogCache }) => {
  const count = await catalogCache.remove(caller, {})
  return confirmDeletion(`${count === 1 ? '1 item was' : `${count} items were`} deleted from the cache.`)
})
