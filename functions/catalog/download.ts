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
  query: z
    .object({
      content: z.enum([...contentParts, 'chunk']).optional(),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256')
        .optional()
        .meta({ description: 'With content=chunk: which chunk of the pack' }),
      job: z.uuid().optional().meta({ description: 'What this is for: however often that asks, it is counted once' }),
    })
    .refine(({ content, sha256 }) => (content === 'chunk') === (sha256 !== undefined), {
      path: ['sha256'],
      message: 'says which chunk, and belongs to content=chunk alone',
    }),
  reply: CatalogManifests,
}).handle(async ({ caller, params, query: { content, sha256, job }, signal }, { catalog }) => {
  if (sha256 !== undefined) return new ContentReply(await catalog.chunk(caller!, params, sha256, signal()))
  return content && content !== 'chunk'
    ? new ContentReply(await catalog.content(caller!, params, content, signal()))
    : catalog.download(caller!, params, job)
})
