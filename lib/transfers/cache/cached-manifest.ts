import * as z from 'zod'
import { CatalogManifest } from '#lib/catalog/manifest-schema.ts'

/** A machine that is kept unpacked, by the SHA-256 of its pack. */
export const CacheItem = z.object({
  id: z.uuid(),
  sha256: z.string(),
  /** As it was when this was kept. */
  manifest: CatalogManifest,
  /** The address of the service of whose catalog that is; undefined for this one. */
  catalog: z.string().optional(),
  /** The id of who pulled it. */
  owner: z.string().optional(),
  files: z.array(z.object({ name: z.string(), size: z.number(), sha256: z.string() })),
  /** Bytes on disk. */
  size: z.number(),
  cached_at: z.string(),
  last_used_at: z.string(),
  used_count: z.int(),
})
export type CacheItem = z.infer<typeof CacheItem>

/** An item as it is shown: the manifest, with the wire's names of what the cache knows. */
export const CachedManifest = CatalogManifest.extend({
  cache_date: z.string(),
  cache_local_path: z.string(),
  cache_metadata_name: z.string(),
  cache_file_name: z.string(),
  cache_type: z.string(),
  cache_size: z.int().meta({ description: 'Bytes on disk' }),
  cache_used_count: z.int(),
  cache_last_used: z.string(),
}).meta({ id: 'CachedManifest' })
export type CachedManifest = z.infer<typeof CachedManifest>
