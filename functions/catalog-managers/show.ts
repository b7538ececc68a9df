import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManagerRecord, CatalogManagerReference } from '#lib/remote-catalogs/managers/schemas.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog-managers/{id}',
  summary: 'Show a catalog manager',
  access: { anyClaim: ['CATALOG_MANAGER_LIST', 'CATALOG_MANAGER_LIST_OWN'] },
  effect: 'read',
  uses: ['catalogManagers'],
  params: CatalogManagerReference,
  reply: CatalogManagerRecord,
}).handle(({ params, caller }, { catalogManagers }) => catalogManagers.show(caller, params.id))
