import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManagerRecord } from '#lib/remote-catalogs/managers/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers',
  summary: 'List the catalog managers that you may see',
  access: { anyClaim: ['CATALOG_MANAGER_LIST', 'CATALOG_MANAGER_LIST_OWN'] },
  effect: 'read',
  uses: ['catalogManagers'],
  filter: true,
  reply: z.array(CatalogManagerRecord),
}).handle(async ({ caller }, { catalogManagers }) => [...(await catalogManagers.list(caller))])
