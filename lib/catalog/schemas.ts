import * as z from 'zod'
import { requireAnyOf } from '#lib/access/member-rules.ts'
import { contentParts } from './download.ts'
import { CatalogManifest, ContentItem, MinimumSpecRequirement } from './manifest-schema.ts'
import { architectureOf, architectures, fitsName, machineTypes, normalCatalogId } from './identifiers.ts'
import { isNoRoute, notAnId } from './reference.ts'
import { normalClaim } from './visibility.ts'

/** Bytes of a body that names every file of its machine. */
export const bodyLimit = 4 * 1024 * 1024

/** Null is the same as left out. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullable()
    .optional()
    .transform(value => value ?? undefined)

export const Text = (most: number) => z.string().max(most)

export const names = <T extends z.ZodType<string>>(one: T) =>
  optional(z.array(one).max(256)).transform(list => list ?? [])
/** Left out means as it is. */
export const maybeNames = <T extends z.ZodType<string>>(one: T) => optional(z.array(one).max(256))

export const Claim = Text(256).trim().min(1).transform(normalClaim)
export const Tag = Text(128)
  .trim()
  .regex(/^[^\p{C},]+$/u, 'must be a name without commas')

export const CatalogId = Text(256)
  .transform(normalCatalogId)
  .refine(fitsName, 'must be a name of at most 100 bytes that does not begin with a dot')
  .refine(isNoRoute, notAnId)
  .meta({ maxLength: 100, pattern: String.raw`^[^.\s\p{C}][^\p{C}]*$` })

export const Version = Text(256)
  .trim()
  .toLowerCase()
  .refine(fitsName, 'must be at most 100 bytes without spaces and special characters, such as 1.0.2-beta')
  .meta({
    maxLength: 100,
    pattern: String.raw`^[^.\p{C} ,:;()[\]{}'"/\\|<>=+*&^%$#@!~?\x60][^\p{C} ,:;()[\]{}'"/\\|<>=+*&^%$#@!~?\x60]*$`,
  })

export const ArchitectureName = Text(64)
  .transform((name, context) => {
    const known = architectureOf(name)
    if (!known) context.addIssue('must be x86_64 or arm64')
    return known ?? z.NEVER
  })
  .meta({ description: 'x86_64 or arm64; other names of these are understood', enum: [...architectures] })

/** Empty is the same as left out. */
export const orEmpty = <T extends z.ZodType>(schema: T) =>
  optional(
    z.union([z.literal('').transform(() => undefined), schema], {
      // That it is not empty is nobody's mistake.
      error: ({ code, errors }) => (code === 'invalid_union' ? errors?.at(-1)?.[0]?.message : undefined),
    }),
  )

/** Body of `/claims`, `/roles` and `/tags`; a connection in it is ignored. */
export const EditManifest = z.object({ required_claims: names(Claim), required_roles: names(Claim), tags: names(Tag) })
export type EditManifest = z.infer<typeof EditManifest>

export const DescribeManifest = z
  .object({
    description: optional(Text(4096)),
    required_claims: maybeNames(Claim),
    required_roles: maybeNames(Claim),
    tags: maybeNames(Tag),
  })
  .meta(requireAnyOf('description', 'tags', 'required_claims', 'required_roles'))
export type DescribeManifest = z.infer<typeof DescribeManifest>

export const ConnectManifest = z.object({ connection: Text(8192).trim().min(1, 'must name a provider') })

const Provider = z.looseObject({
  type: optional(Text(64)),
  meta: optional(z.record(z.string(), Text(8192))).transform(meta => meta ?? {}),
})

/** Names of what is on the provider: one segment of a path. */
const FileName = Text(255).regex(/^(?!\.)[^\p{C}/\\]*$/u, 'must be the name of a file')
const Folder = Text(1024).regex(/^(?!.*(^|\/)\.)[^\p{C}\\]*$/u, 'must be a folder of the provider')

/** What a host says that has pushed a pack (the wire's own form). */
export const RegisterManifest = z.object({
  id: optional(z.uuid().toLowerCase()).meta({
    description: 'Id of the new manifest, as its description on the provider has it; made up when left out or in use',
  }),
  catalog_id: CatalogId,
  version: orEmpty(Version).transform(version => version ?? 'latest'),
  architecture: ArchitectureName,
  type: orEmpty(z.enum(machineTypes)),
  description: orEmpty(Text(4096)),
  provider: optional(Provider),
  tags: names(Tag),
  required_claims: maybeNames(Claim),
  required_roles: maybeNames(Claim),
  minimum_requirements: optional(MinimumSpecRequirement),
  is_compressed: optional(z.boolean()),
  size: optional(z.int().nonnegative()),
  pack_size: optional(z.int().nonnegative()),
  pack_sha256: orEmpty(Text(64).regex(/^[0-9a-f]{64}$/, 'must be a SHA-256')),
  path: orEmpty(Folder),
  pack_path: orEmpty(FileName),
  pack_filename: orEmpty(FileName),
  metadata_path: orEmpty(FileName),
  metadata_filename: orEmpty(FileName),
  pack_relative_path: orEmpty(Text(255)),
  pack_contents: optional(z.array(ContentItem).max(100_000)),
  virtual_machine_contents: optional(z.array(ContentItem).max(100_000)),
})
export type RegisterManifest = z.infer<typeof RegisterManifest>

/** Which page of a catalog is wanted. */
export const CatalogQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'Manifests on a page; all when left out' }),
  cursor: z.string().max(512).optional().meta({ description: 'From the Link of the page before' }),
})

export const DeleteQuery = z.object({
  clean_remote: z.stringbool().default(true).meta({ description: 'false leaves the objects on the provider' }),
})

/** What of a manifest is wanted: what says where it is, or bytes. */
export const DownloadQuery = z
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
  })

export const ImportResult = z
  .object({ id: z.string(), local_path: z.string(), machine_name: z.string(), manifest: CatalogManifest })
  .meta({ id: 'ImportResult' })
export type ImportResult = z.infer<typeof ImportResult>
