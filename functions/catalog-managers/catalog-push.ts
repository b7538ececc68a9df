import { pushing, pushJob } from '#lib/catalog/transfers/contracts.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { untilGone } from '#lib/http/until-gone.ts'
import { CatalogManagerReference } from '#lib/managers/schemas.ts'

export default endpoint({
  ...pushing,
  path: '/v1/catalog-managers/{id}/catalog/push',
  summary: 'Push a machine of this host to a remote catalog',
  access: { anyClaim: ['PUSH_CATALOG_MANIFEST', 'CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN'] },
  uses: ['managedCatalogs', 'transfers'],
  params: CatalogManagerReference,
  job: pushJob,
}).handle(async (call, { managedCatalogs, transfers }) => {
  const peer = await managedCatalogs.peer(call.caller!, call.params.id, 'push')
  return [await transfers.push(call.caller!, call.body, untilGone(call), peer)]
})
