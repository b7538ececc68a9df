import * as z from 'zod'
import { ContentItem, MinimumSpecRequirement } from './manifest.ts'
import { architectureOf, fitsName, machineTypes, normalCatalogId } from './names.ts'
import { isNoRoute, notAnId } from './place.ts'
import { normalClaim } from './visible.ts'

/** Bytes of a body that names every file of its machine. */
export const bodyLimit = 4 * 1024 * 1024

/** Null is the same as left out. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullable()
    .optional()
    .transform(value => value ?? undefined)

export const Text = (most: number) => z.string('must be a text').max(most, `must not be longer than ${most} characters`)

export const names = <T extends z.ZodType<string>>(one: T) =>
  optional(z.array(one).max(256)).transform(list => list ?? [])
/** Left out means as it is. */
export const maybeNames = <T extends z.ZodType<string>>(one: T) => optional(z.array(one).max(256))

export const Claim = Text(256).trim().min(1, 'must not be empty').transform(normalClaim)
export const Tag = Text(128)
  .trim()
  .regex(/^[^\p{C},]+$/u, 'must be a name without commas')

export const CatalogId = Text(256)
  .transform(normalCatalogId)
  .refine(fitsName, 'must be a name of at most 100 bytes that does not begin with a dot')
  .refine(isNoRoute, notAnId)

export const Version = Text(256)
  .trim()
  .toLowerCase()
  .refine(fitsName, 'must be at most 100 bytes without spaces and special characters, such as 1.0.2-beta')

export const ArchitectureName = Text(64)
  .transform((name, context) => {
    const known = architectureOf(name)
    if (!known) context.addIssue('must be x86_64 or arm64')
    return known ?? z.NEVER
  })
  .meta({ description: 'x86_64 or arm64' })

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

export const DescribeManifest = z.object({
  description: optional(Text(4096)),
  required_claims: maybeNames(Claim),
  required_roles: maybeNames(Claim),
  tags: maybeNames(Tag),
})
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
