import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog/cache',
  also: ['DELETE /v1/cache'],
  summary: 'Delete all that is kept for the next pull and not in use',
  access: { claims: ['DELETE_ALL_CACHE'] },
  effect: 'change',
  uses: ['catalogCache'],
  reply: Accepted,
  status: 202,
}).handle(async ({ caller }, { catalogCache }) => {
  const count = await catalogCache.remove(caller!, {})
  return accepted(`${count === 1 ? '1 item was' : `${count} items were`} deleted from the cache.`)
})
