import * as z from 'zod'
import { CachedManifest } from '#lib/transfers/cache/cached-manifest.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog/cache',
  also: ['GET /v1/cache'],
  summary: 'List the cached machines, most recently used first',
  access: { claims: ['LIST_CACHE'] },
  effect: 'read',
  uses: ['catalogCache'],
  filter: true,
  reply: z.array(CachedManifest),
}).handle(async ({ caller }, { catalogCache }) => [...(await catalogCache.list(caller))])
