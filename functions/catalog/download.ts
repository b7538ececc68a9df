import { DownloadQuery } from '#lib/catalog/schemas.ts'
import { CatalogManifests } from '#lib/catalog/manifest-schema.ts'
import { ManifestReferenceParams } from '#lib/catalog/reference.ts'
import { RangeReply } from '#lib/calls/range-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { storageFaults } from '#lib/catalog/contracts.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/download',
  summary: 'Show what a download needs; with content=pack, send the bytes (Range)',
  access: { claims: ['LIST_CATALOG_MANIFEST'] },
  effect: 'read',
  uses: ['catalog'],
  params: ManifestReferenceParams,
  query: DownloadQuery,
  media: 'application/octet-stream',
  hasETag: true,
  faults: ['conflict', ...storageFaults],
  reply: CatalogManifests,
}).handle(async (context, { catalog }) => {
  const { caller, params, query } = context
  const { content, sha256, job } = query
  if (sha256 !== undefined) return new RangeReply(await catalog.chunk(caller, params, sha256, context.signal))
  return content && content !== 'chunk'
    ? new RangeReply(await catalog.content(caller, params, content, context.signal))
    : catalog.download(caller, params, job)
})
