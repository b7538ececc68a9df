import { endpoint } from '#lib/http/endpoint.ts'
import { auditedMembers, CatalogManagerRecord, CreateCatalogManager } from '#lib/remote-catalogs/managers/schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/catalog-managers',
  summary: 'Create a catalog manager: a remote catalog with its address and credentials',
  access: { anyClaim: ['CATALOG_MANAGER_CREATE', 'CATALOG_MANAGER_CREATE_OWN'] },
  effect: 'change',
  uses: ['catalogManagers'],
  body: CreateCatalogManager,
  audited: auditedMembers,
  faults: remoteFaults,
  reply: CatalogManagerRecord,
  status: 201,
}).handle(({ body, caller, reauthenticate }, { catalogManagers }) =>
  catalogManagers.create(caller, body, reauthenticate),
)
