import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { ManagedReferenceParams, PassThroughQuery } from '#lib/remote-catalogs/managers/catalog-schemas.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'
import { DeleteQuery } from '#lib/catalog/schemas.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog-managers/{id}/catalog/{catalogId}',
  also: [
    'DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}',
    'DELETE /v1/catalog-managers/{id}/catalog/{catalogId}/{version}/{architecture}',
  ],
  summary: 'Delete a catalog id, a version or an architecture of a remote catalog; manifests that you may not see stay',
  access: { anyClaim: ['DELETE_CATALOG_MANIFEST', 'CATALOG_MANAGER_DELETE_CATALOG_MANIFEST_OWN'] },
  effect: 'change',
  uses: ['managedCatalogs'],
  params: ManagedReferenceParams,
  query: PassThroughQuery,
  faults: remoteFaults,
  passThrough: { query: DeleteQuery },
  reply: DeletionReply,
  status: 202,
}).handle(async (call, { managedCatalogs }) => {
  await managedCatalogs.remove(call)
  return confirmDeletion(`${Object.values(call.params).slice(1).join(' ')} was deleted from the remote catalog.`)
})
