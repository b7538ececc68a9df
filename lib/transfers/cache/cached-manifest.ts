import * as z from 'zod'
import { CatalogManifest } from '#lib/catalog/manifest-schema.ts'

/** The record of a machine in the cache. */
export const CacheItem = z.object({
  id: z.uuid(),
  /** The SHA-256 of its pack, which finds it again. */
  sha256: z.string(),
  /** The manifest as it was when the machine was cached. */
  manifest: CatalogManifest,
  /** The address of the service whose catalog has the manifest. Undefined for this service. */
  catalog: z.string().optional(),
  /** The id of the user who pulled the machine. */
  owner: z.string().optional(),
  files: z.array(z.object({ name: z.string(), size: z.number(), sha256: z.string() })),
  /** Bytes on disk. */
  size: z.number(),
  cached_at: z.string(),
  last_used_at: z.string(),
  used_count: z.int(),
})
export type CacheItem = z.infer<typeof CacheItem>

/** A cached machine in replies: its manifest, with what the cache adds. */
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

/** Returns a cached machine as replies show it. `folder` is the folder of the cache. */
export const toCachedManifest = ({ manifest, ...item }: CacheItem, folder: string): CachedManifest => ({
  ...manifest,
  cache_date: item.cached_at,
  cache_local_path: folder,
  // The cache has no file of its own for the manifest, which is in the store.
  cache_metadata_name: '',
  cache_file_name: item.sha256,
  cache_type: 'folder',
  cache_size: item.size,
  cache_used_count: item.used_count,
  cache_last_used: item.last_used_at,
})
