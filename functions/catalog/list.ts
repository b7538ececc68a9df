import * as z from 'zod'
import { CatalogManifests } from '#lib/catalog/manifest.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog',
  summary: 'List the manifests of the catalog that you may see',
  access: { claims: ['LIST_CATALOG_MANIFEST'] },
  effect: 'read',
  uses: ['catalog'],
  query: z.object({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Manifests on a page; all when left out' }),
    cursor: z.string().max(512).optional().meta({ description: 'From the Link of the page before' }),
  }),
  filter: 'handled',
  reply: CatalogManifests,
}).handle(({ caller, query, filter }, { catalog }) => catalog.list(caller!, query, filter))
