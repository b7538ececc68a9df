import { CatalogPlace } from '#lib/catalog/reference.ts'
import { DeleteQuery } from '#lib/catalog/schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { storageFaults } from '#lib/catalog/contracts.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog/{catalogId}',
  also: ['DELETE /v1/catalog/{catalogId}/{version}', 'DELETE /v1/catalog/{catalogId}/{version}/{architecture}'],
  summary: 'Delete a catalog id, a version or an architecture, with its objects on the provider',
  access: { claims: ['DELETE_CATALOG_MANIFEST'] },
  effect: 'change',
  uses: ['catalog'],
  params: CatalogPlace,
  query: DeleteQuery,
  conditional: true,
  faults: storageFaults,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller, params, query, ifMatch, signal }, { catalog }) => {
  const how = { cleanRemote: query.clean_remote, ifMatch, signal }
  const { count, left } = await catalog.remove(caller!, params, how)
  const what = count === 1 ? '1 manifest' : `${count} manifests`
  const shown = left.length > 3 ? `${left.slice(0, 3).join(', ')} and ${left.length - 3} more` : left.join(', ')
  const stays = `Left on the provider, for no push of this service put it there: ${shown}.`
  const told = `${Object.values(params).join(' ')} was deleted from the catalog: ${what}.`
  return confirmDeletion(left.length === 0 ? told : `${told} ${stays}`)
})
