import { pullContract, pullJob } from '#lib/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { cancelOnDisconnect } from '#lib/http/cancel-on-disconnect.ts'
import { CatalogManagerReference } from '#lib/remote-catalogs/managers/schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'

export default endpoint({
  ...pullContract,
  path: '/v1/catalog-managers/{id}/catalog/pull',
  also: ['POST /v1/catalog-managers/{id}/catalog/pull'],
  summary: 'Pull a machine from a remote catalog to this host',
  access: { anyClaim: ['PULL_CATALOG_MANIFEST', 'CATALOG_MANAGER_PULL_CATALOG_MANIFEST_OWN'] },
  uses: ['managedCatalogs', 'transfers'],
  faults: remoteFaults,
  params: CatalogManagerReference,
  job: pullJob,
}).handle(async (call, { managedCatalogs, transfers }) => {
  const session = await managedCatalogs.openSession(call.caller, call.params.id, 'pull')
  return transfers.pull(call.caller, call.body, cancelOnDisconnect(call), session)
})
