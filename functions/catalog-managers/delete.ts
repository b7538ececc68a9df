import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { CatalogManagerReference } from '#lib/remote-catalogs/managers/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog-managers/{id}',
  summary: 'Delete a catalog manager',
  access: { anyClaim: ['CATALOG_MANAGER_DELETE', 'CATALOG_MANAGER_DELETE_OWN'] },
  effect: 'change',
  uses: ['catalogManagers'],
  params: CatalogManagerReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { catalogManagers }) => {
  await catalogManagers.remove(caller, params.id)
  return confirmDeletion(`The catalog manager ${params.id} was deleted.`)
})
