import * as z from 'zod'
import { CachedManifest } from '#lib/catalog/cache/record.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog/cache',
  also: ['GET /v1/cache'],
  summary: 'List the machines that are kept for the next pull, the one that was used last first',
  access: { claims: ['LIST_CACHE'] },
  effect: 'read',
  uses: ['catalogCache'],
  filter: true,
  reply: z.array(CachedManifest),
}).handle(async ({ caller }, { catalogCache }) => [...(await catalogCache.list(caller!))])
