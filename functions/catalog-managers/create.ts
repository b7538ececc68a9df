import { endpoint } from '#lib/http/endpoint.ts'
import { audited, CatalogManagerRecord, CreateCatalogManager } from '#lib/managers/schemas.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/catalog-managers',
  summary: 'Create a catalog manager: a remote catalog with what opens it',
  access: { anyClaim: ['CATALOG_MANAGER_CREATE', 'CATALOG_MANAGER_CREATE_OWN'] },
  effect: 'change',
  uses: ['catalogManagers'],
  body: CreateCatalogManager,
  audited,
  reply: CatalogManagerRecord,
  status: 201,
}).handle(({ body, caller, again }, { catalogManagers }) => catalogManagers.create(caller!, body, again))
