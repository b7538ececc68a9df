import * as z from 'zod'
import { architectures, machineTypes } from './identifiers.ts'
import { providerTypes } from '#lib/objects/port/provider-kinds.ts'

/** A file of a pack, of a machine, or on the provider. */
export const ContentItem = z
  .object({
    name: z.string(),
    path: z.string(),
    is_dir: z.boolean().default(false),
    size: z.int().nonnegative().default(0).meta({ description: 'Bytes' }),
    hash: z.string().default(''),
    created_at: z.string().optional(),
    updated_at: z.string().optional(),
    deleted_at: z.string().optional(),
  })
  .meta({ id: 'CatalogContentItem' })
export type ContentItem = z.infer<typeof ContentItem>

export const MinimumSpecRequirement = z
  .object({
    cpu: z.int().nonnegative().default(0).meta({ description: 'Cores' }),
    memory: z.int().nonnegative().default(0).meta({ description: 'MB' }),
    disk: z.int().nonnegative().default(0).meta({ description: 'MB' }),
  })
  .meta({ id: 'MinimumSpecRequirement' })

const Provider = z.object({
  type: z.enum(providerTypes as [string, ...string[]]),
  meta: z.record(z.string(), z.string()),
})

/** What the inventory keeps of a manifest and shows as it is. Times are RFC 3339; one that is not set is not there. */
const Fields = z.object({
  id: z.uuid(),
  catalog_id: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string(),
  architecture: z.enum(architectures),
  type: z.enum(machineTypes),
  tags: z.array(z.string()),
  required_claims: z.array(z.string()),
  required_roles: z.array(z.string()),
  minimum_requirements: MinimumSpecRequirement,
  is_compressed: z.boolean(),
  size: z.int().nonnegative().meta({ description: 'Bytes of the machine' }),
  pack_size: z.int().nonnegative().meta({
    description: 'Bytes of the pack; of one in chunks those of its list and of its chunks as they are kept, compressed',
  }),
  pack_sha256: z.string(),
  path: z.string().meta({ description: 'Folder on the provider' }),
  pack_filename: z.string(),
  metadata_filename: z.string(),
  pack_relative_path: z.string(),
  download_count: z.int().nonnegative(),
  last_downloaded_at: z.string().optional(),
  last_downloaded_user: z.string(),
  tainted: z.boolean(),
  tainted_at: z.string().optional(),
  tainted_by: z.string(),
  untainted_by: z.string(),
  revoked: z.boolean(),
  revoked_at: z.string().optional(),
  revoked_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** A manifest as it is kept. */
export const StoredManifest = Fields.extend({
  /** Where the pack is, with what opens that; not there for one that was registered without. */
  provider: Provider.optional(),
  /** Whether it names files; they are kept apart (`contents.ts`). */
  has_contents: z.boolean().optional(),
  /** Who registered it; not known of those that were registered before this was kept. */
  owner_id: z.string().optional(),
  /** Counts the changes of anything but the downloads: what If-Match is about. */
  edition: z.int().positive(),
  /** The jobs of the last downloads that were counted: one that goes on after a kill comes by again. */
  counted_jobs: z.array(z.string()).optional(),
})
export type StoredManifest = z.infer<typeof StoredManifest>

/** A manifest as it is shown: spec section 2.3, with both pairs of names that clients of the field read. */
export const CatalogManifest = Fields.extend({
  provider: z
    .object({ type: z.string(), meta: z.record(z.string(), z.string()) })
    .meta({ id: 'CatalogManifestProvider', description: 'Values that could open the storage are masked' }),
  pack_path: z.string(),
  metadata_path: z.string(),
  pack_contents: z.array(ContentItem),
  virtual_machine_contents: z.array(ContentItem),
}).meta({ id: 'CatalogManifest' })
export type CatalogManifest = z.infer<typeof CatalogManifest>

/** What the spec calls an array of manifests. */
export const CatalogManifests = z.array(CatalogManifest)
