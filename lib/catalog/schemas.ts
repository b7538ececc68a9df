import * as z from 'zod'
import { requireAnyOf } from '#lib/access/member-rules.ts'
import { contentParts } from './download.ts'
import { CatalogManifest, ContentItem, MinimumSpecRequirement } from './manifest-schema.ts'
import { parseArchitecture, architectures, isNamePart, machineTypes, normalizeCatalogId } from './identifiers.ts'
import { isNotReserved, reservedNameMessage } from './reference.ts'
import { normalizeClaim } from './visibility.ts'

/** The most bytes of a body that lists every file of a machine. */
export const bodyLimit = 4 * 1024 * 1024

/** Accepts null as left out. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullable()
    .optional()
    .transform(value => value ?? undefined)

export const Text = (maxLength: number) => z.string().max(maxLength)

/** A list of names; empty when left out. */
export const nameList = <T extends z.ZodType<string>>(name: T) =>
  optional(z.array(name).max(256)).transform(list => list ?? [])
/** A list of names; undefined when left out, so that the stored list stays. */
export const optionalNameList = <T extends z.ZodType<string>>(name: T) => optional(z.array(name).max(256))

export const Claim = Text(256).trim().min(1).transform(normalizeClaim)
export const Tag = Text(128)
  .trim()
  .regex(/^[^\p{C},]+$/u, 'must be a name without commas')

export const CatalogId = Text(256)
  .transform(normalizeCatalogId)
  .refine(isNamePart, 'must be a name of at most 100 bytes that does not begin with a dot')
  .refine(isNotReserved, reservedNameMessage)
  .meta({ maxLength: 100, pattern: String.raw`^[^.\s\p{C}][^\p{C}]*$` })

export const Version = Text(256)
  .trim()
  .toLowerCase()
  .refine(isNamePart, 'must be at most 100 bytes without spaces and special characters, such as 1.0.2-beta')
  .meta({
    maxLength: 100,
    pattern: String.raw`^[^.\p{C} ,:;()[\]{}'"/\\|<>=+*&^%$#@!~?\x60][^\p{C} ,:;()[\]{}'"/\\|<>=+*&^%$#@!~?\x60]*$`,
  })

export const ArchitectureName = Text(64)
  .transform((name, context) => {
    const architecture = parseArchitecture(name)
    if (!architecture) context.addIssue('must be x86_64 or arm64')
    return architecture ?? z.NEVER
  })
  .meta({ description: 'x86_64 or arm64; other names of these are accepted', enum: [...architectures] })

/** Accepts null and an empty text as left out. */
export const optionalOrEmpty = <T extends z.ZodType>(schema: T) =>
  optional(
    z.union([z.literal('').transform(() => undefined), schema], {
      // Shows the issue of the schema, and not that the text is not empty.
      error: ({ code, errors }) => (code === 'invalid_union' ? errors?.at(-1)?.[0]?.message : undefined),
    }),
  )

/** The body of `/claims`, `/roles` and `/tags`. A connection in it is ignored. */
export const EditManifest = z.object({
  required_claims: nameList(Claim),
  required_roles: nameList(Claim),
  tags: nameList(Tag),
})
export type EditManifest = z.infer<typeof EditManifest>

export const DescribeManifest = z
  .object({
    description: optional(Text(4096)),
    required_claims: optionalNameList(Claim),
    required_roles: optionalNameList(Claim),
    tags: optionalNameList(Tag),
  })
  .meta(requireAnyOf('description', 'tags', 'required_claims', 'required_roles'))
export type DescribeManifest = z.infer<typeof DescribeManifest>

export const ConnectManifest = z.object({ connection: Text(8192).trim().min(1, 'must name a provider') })

const Provider = z.looseObject({
  type: optional(Text(64)),
  meta: optional(z.record(z.string(), Text(8192))).transform(meta => meta ?? {}),
})

/** The name of an object on the provider: one segment of a path. */
const FileName = Text(255).regex(/^(?!\.)[^\p{C}/\\]*$/u, 'must be the name of a file')
const Folder = Text(1024).regex(/^(?!.*(^|\/)\.)[^\p{C}\\]*$/u, 'must be a folder of the provider')

/** The registration that a host sends after it has pushed a pack (the wire's format). */
export const RegisterManifest = z.object({
  id: optional(z.uuid().toLowerCase()).meta({
    description: 'Id of the new manifest, as in its description on the provider; generated when left out or in use',
  }),
  catalog_id: CatalogId,
  version: optionalOrEmpty(Version).transform(version => version ?? 'latest'),
  architecture: ArchitectureName,
  type: optionalOrEmpty(z.enum(machineTypes)),
  description: optionalOrEmpty(Text(4096)),
  provider: optional(Provider),
  tags: nameList(Tag),
  required_claims: optionalNameList(Claim),
  required_roles: optionalNameList(Claim),
  minimum_requirements: optional(MinimumSpecRequirement),
  is_compressed: optional(z.boolean()),
  size: optional(z.int().nonnegative()),
  pack_size: optional(z.int().nonnegative()),
  pack_sha256: optionalOrEmpty(Text(64).regex(/^[0-9a-f]{64}$/, 'must be a SHA-256')),
  path: optionalOrEmpty(Folder),
  pack_path: optionalOrEmpty(FileName),
  pack_filename: optionalOrEmpty(FileName),
  metadata_path: optionalOrEmpty(FileName),
  metadata_filename: optionalOrEmpty(FileName),
  pack_relative_path: optionalOrEmpty(Text(255)),
  pack_contents: optional(z.array(ContentItem).max(100_000)),
  virtual_machine_contents: optional(z.array(ContentItem).max(100_000)),
})
export type RegisterManifest = z.infer<typeof RegisterManifest>

/** The page of the catalog that a request asks for. */
export const CatalogQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'Manifests on a page; all when left out' }),
  cursor: z.string().max(512).optional().meta({ description: 'From the Link of the previous page' }),
})

export const DeleteQuery = z.object({
  clean_remote: z.stringbool().default(true).meta({ description: 'false leaves the objects on the provider' }),
})

/** What a download asks for: the manifest when `content` is left out, else the bytes of an object. */
export const DownloadQuery = z
  .object({
    content: z.enum([...contentParts, 'chunk']).optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256')
      .optional()
      .meta({ description: 'With content=chunk: the chunk' }),
    job: z
      .uuid()
      .optional()
      .meta({ description: 'Id of the job that downloads; all requests of a job count as one download' }),
  })
  .refine(({ content, sha256 }) => (content === 'chunk') === (sha256 !== undefined), {
    path: ['sha256'],
    message: 'must be given with content=chunk, and only then',
  })

export const ImportResult = z
  .object({ id: z.string(), local_path: z.string(), machine_name: z.string(), manifest: CatalogManifest })
  .meta({ id: 'ImportResult' })
export type ImportResult = z.infer<typeof ImportResult>
