import { CatalogReferenceParams } from '#lib/catalog/reference.ts'
import { DeleteQuery } from '#lib/catalog/schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { storageFaults } from '#lib/catalog/contracts.ts'

const maxListedPacks = 3

const formatRemainingPacks = (packs: readonly string[]): string => {
  const listed = packs.slice(0, maxListedPacks).join(', ')
  const more = packs.length > maxListedPacks ? ` and ${packs.length - maxListedPacks} more` : ''
  return `These packs stay on the provider, because no push of this service wrote them: ${listed}${more}.`
}

export default endpoint({
  method: 'DELETE',
  path: '/v1/catalog/{catalogId}',
  also: ['DELETE /v1/catalog/{catalogId}/{version}', 'DELETE /v1/catalog/{catalogId}/{version}/{architecture}'],
  summary: 'Delete a catalog id, a version or an architecture, with its objects on the provider',
  access: { claims: ['DELETE_CATALOG_MANIFEST'] },
  effect: 'change',
  uses: ['catalog'],
  params: CatalogReferenceParams,
  query: DeleteQuery,
  conditional: true,
  faults: storageFaults,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ caller, params, query, ifMatch, signal }, { catalog }) => {
  const options = { cleanRemote: query.clean_remote, ifMatch, signal }
  const { count, remainingPacks } = await catalog.remove(caller, params, options)
  const deleted = count === 1 ? '1 manifest' : `${count} manifests`
  const message = `${Object.values(params).join(' ')} was deleted from the catalog: ${deleted}.`
  return confirmDeletion(remainingPacks.length === 0 ? message : `${message} ${formatRemainingPacks(remainingPacks)}`)
})
