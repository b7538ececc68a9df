import * as z from 'zod'
import { contentParts } from '#lib/catalog/content.ts'
import { CatalogManifests } from '#lib/catalog/manifest.ts'
import { CatalogManifestPlace } from '#lib/catalog/place.ts'
import { ContentReply } from '#lib/http/content.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/catalog/{catalogId}/{version}/{architecture}/download',
  summary: 'Show what a download needs, or with content=pack send the bytes themselves (Range)',
  access: { claims: ['LIST_CATALOG_MANIFEST'] },
  effect: 'read',
  uses: ['catalog'],
  params: CatalogManifestPlace,
  query: z.object({ content: z.enum(contentParts).optional() }),
  reply: CatalogManifests,
}).handle(async ({ caller, params, query: { content }, signal }, { catalog }) =>
  content
    ? new ContentReply(await catalog.content(caller!, params, content, signal()))
    : catalog.download(caller!, params),
)
