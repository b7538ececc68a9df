import * as z from 'zod'
import { architectures, machineTypes } from './identifiers.ts'
import { providerTypes } from '#lib/objects/port/provider-kinds.ts'

/** A file of a pack or of a machine. */
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
export type MinimumSpecRequirement = z.infer<typeof MinimumSpecRequirement>

const Provider = z.object({
  type: z.enum(providerTypes),
  meta: z.record(z.string(), z.string()),
})

/** The fields of a manifest that are stored and shown without a change. Times are RFC 3339; a time that is not set is left out. */
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
    description: 'Bytes of the pack; for a machine in chunks, of the chunk index and of the compressed chunks',
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

/** A manifest as it is stored. */
export const StoredManifest = Fields.extend({
  /** The storage of the pack, with its secrets. A manifest that was registered without a storage has none. */
  provider: Provider.optional(),
  /** Whether the manifest lists files. They are stored separately (`contents.ts`). */
  has_contents: z.boolean().optional(),
  /** The user who registered the manifest. Manifests of an early version of the service do not have it. */
  owner_id: z.string().optional(),
  /** The generation: it counts the changes, but not the downloads. If-Match compares it. The name is part of the stored format. */
  edition: z.int().positive(),
  /** The jobs of the last counted downloads. A job that continues after a restart asks again, and is not counted twice. */
  counted_jobs: z.array(z.string()).optional(),
})
export type StoredManifest = z.infer<typeof StoredManifest>

/** The view of a manifest: spec section 2.3, with both pairs of names that existing clients read. */
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

export const CatalogManifests = z.array(CatalogManifest)
