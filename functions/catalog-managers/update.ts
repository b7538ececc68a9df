import { endpoint } from '#lib/http/endpoint.ts'
import {
  auditedMembers,
  CatalogManagerRecord,
  CatalogManagerReference,
  UpdateCatalogManager,
} from '#lib/remote-catalogs/managers/schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/catalog-managers/{id}',
  summary: 'Change a catalog manager',
  access: { anyClaim: ['CATALOG_MANAGER_UPDATE', 'CATALOG_MANAGER_UPDATE_OWN'] },
  effect: 'change',
  uses: ['catalogManagers'],
  params: CatalogManagerReference,
  body: UpdateCatalogManager,
  audited: auditedMembers,
  faults: remoteFaults,
  reply: CatalogManagerRecord,
}).handle(({ params, body, caller, reauthenticate }, { catalogManagers }) =>
  catalogManagers.update(caller, params.id, body, reauthenticate),
)
