import { pulling, pullJob } from '#lib/catalog/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { untilGone } from '#lib/http/until-gone.ts'
import { CatalogManagerReference } from '#lib/managers/schemas.ts'

export default endpoint({
  ...pulling,
  path: '/v1/catalog-managers/{id}/catalog/pull',
  also: ['POST /v1/catalog-managers/{id}/catalog/pull'],
  summary: 'Pull a machine of a remote catalog to this host',
  access: { anyClaim: ['PULL_CATALOG_MANIFEST', 'CATALOG_MANAGER_PULL_CATALOG_MANIFEST_OWN'] },
  uses: ['managedCatalogs', 'transfers'],
  params: CatalogManagerReference,
  job: pullJob,
}).handle(async (call, { managedCatalogs, transfers }) => {
  const peer = await managedCatalogs.peer(call.caller!, call.params.id, 'pull')
  return transfers.pull(call.caller!, call.body, untilGone(call), peer)
})
