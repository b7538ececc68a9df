import { pushContract, pushJob } from '#lib/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManagerReference } from '#lib/remote-catalogs/managers/schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'

export default endpoint({
  ...pushContract,
  path: '/v1/catalog-managers/{id}/catalog/push/async',
  summary: 'Start a push to a remote catalog; the reply is its job',
  access: { anyClaim: ['PUSH_CATALOG_MANIFEST', 'CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN'] },
  uses: ['managedCatalogs', 'transfers'],
  faults: remoteFaults,
  params: CatalogManagerReference,
  job: { ...pushJob, detached: true },
}).handle(async (call, { managedCatalogs, transfers }) => {
  const session = await managedCatalogs.openSession(call.caller, call.params.id, 'push')
  return [await transfers.push(call.caller, call.body, call.progress, session)]
})
