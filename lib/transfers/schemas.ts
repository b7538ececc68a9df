import * as z from 'zod'
import { MachineName } from '#lib/machines/schemas.ts'
import { CatalogManifest, MinimumSpecRequirement } from '#lib/catalog/manifest-schema.ts'
import { machineTypes, normalizeCatalogId } from '#lib/catalog/identifiers.ts'
import {
  ArchitectureName,
  CatalogId,
  Claim,
  optionalNameList,
  nameList,
  optional,
  optionalOrEmpty,
  Tag,
  Text,
  Version,
} from '#lib/catalog/schemas.ts'
import { SourceOrder, TargetOrder } from './orders/schemas.ts'

const Connection = Text(8192).trim()
const ProviderMetadata = optional(z.record(z.string(), Text(8192))).transform(meta => meta ?? {})
const LocalPath = Text(4096).regex(/^[^\0]*$/, 'must be a path')

const balanced = 5
const levels: Readonly<Record<string, number>> = {
  best_speed: 1,
  balanced,
  best_compression: 9,
  no_compression: 0,
  default: -1,
}

const parseLevel = (text: string): number => {
  const word = text.trim().toLowerCase()
  return (Object.hasOwn(levels, word) ? levels[word] : undefined) ?? balanced
}

/** A level of gzip: a number, or a word that other services accept too. A number out of range becomes the nearest one. */
const Level = z
  .union([z.number().int(), Text(64).transform(parseLevel)])
  .transform(level => Math.min(9, Math.max(-1, level)))

/** Says what happens to a transfer whose caller goes away. */
export const TransferQuery = z.object({
  cancel_on_disconnect: z.stringbool().default(false).meta({
    description: 'true: the transfer is cancelled when the caller goes away. Otherwise it continues as a job',
  }),
})

export const PushManifest = z
  .object({
    catalog_id: CatalogId,
    version: Version,
    architecture: optionalOrEmpty(ArchitectureName).meta({
      description: 'The architecture of this host when left out',
    }),
    connection: Connection.min(1, 'must name a provider'),
    local_path: optionalOrEmpty(LocalPath).meta({
      description: 'Folder of a machine of this host, or of a pvm or macvm bundle',
    }),
    uuid: optionalOrEmpty(Text(256)).meta({
      description: 'Id or name of a machine of this host, in place of local_path',
    }),
    description: optionalOrEmpty(Text(4096)),
    minimum_requirements: optional(MinimumSpecRequirement),
    required_claims: optionalNameList(Claim),
    required_roles: optionalNameList(Claim),
    tags: nameList(Tag),
    compress_pack: optional(z.boolean()),
    compress: optional(z.boolean()),
    compress_pack_level: optional(Level),
    compress_level: optional(Level),
    compress_format: optional(z.enum(['gzip', 'zstd'])).meta({
      description: 'gzip when left out, which every compatible service reads',
    }),
    chunked: optional(z.boolean()).meta({
      description:
        'true: store the machine as chunks, not as a pack. The push sends only chunks that the provider does not have from other machines and versions. Only services of this kind can read them, and the compression settings do not apply',
    }),
    suspend: optional(z.boolean()).meta({
      description:
        'true: a running machine is suspended while its files are read, and then resumed. Copies start with the disks as after a power failure. Needs the claim UPDATE_VM_STATES too',
    }),
    snapshot: optionalOrEmpty(Text(256)).meta({
      description:
        'UUID or name of a snapshot of the machine, or `@` and a moment: what its disks and its hardware were then is pushed, without memory. The machine may run. Needs the right to list its snapshots too',
    }),
    override_existing: optional(z.boolean()).meta({ description: 'false: an existing manifest is not replaced' }),
    target: optional(TargetOrder),
  })
  .refine(({ local_path, uuid }) => local_path !== undefined || uuid !== undefined, {
    path: ['local_path'],
    message: 'must name the machine to push, or uuid must',
  })
  .refine(({ snapshot, suspend }) => snapshot === undefined || suspend !== true, {
    path: ['suspend'],
    message: 'must be left out with snapshot: the machine goes on while its snapshot is read',
  })
export type PushManifest = z.infer<typeof PushManifest>

export const PullManifest = z.object({
  catalog_id: Text(256)
    .transform(normalizeCatalogId)
    .refine(id => id !== '', 'must not be empty'),
  version: optionalOrEmpty(Text(256).trim()).transform(version => version ?? 'latest'),
  architecture: optionalOrEmpty(ArchitectureName).meta({ description: 'The architecture of this host when left out' }),
  connection: optionalOrEmpty(Connection).meta({
    description: 'host=… of another catalog. This catalog when left out',
  }),
  machine_name: MachineName,
  provider_metadata: ProviderMetadata,
  start_after_pull: optional(z.boolean()),
  source: optional(SourceOrder),
})
export type PullManifest = z.infer<typeof PullManifest>

export const PullResult = z
  .object({
    id: z.string().meta({ description: 'Id of the manifest' }),
    catalog_id: z.string(),
    version: z.string(),
    architecture: z.string(),
    local_path: z.string().meta({ description: 'Folder of the machine' }),
    local_cache_path: z.string(),
    machine_id: z.string(),
    machine_name: z.string(),
    manifest: CatalogManifest,
  })
  .meta({ id: 'PullResult' })
export type PullResult = z.infer<typeof PullResult>

const importFields = {
  catalog_id: CatalogId,
  version: Version,
  architecture: ArchitectureName,
  connection: Connection.min(1, 'must name a provider'),
  provider_metadata: ProviderMetadata,
}

export const ImportManifest = z.object(importFields)
export type ImportManifest = z.infer<typeof ImportManifest>

export const ImportMachine = z.object({
  ...importFields,
  machine_remote_path: Text(1024)
    .trim()
    .regex(/^(?!.*(^|\/)\.)[^\p{C}\\]+$/u, 'must be a path on the provider'),
  type: optionalOrEmpty(z.enum(machineTypes)),
  size: z.int().positive(),
  is_compressed: optional(z.boolean()),
  force: optional(z.boolean()),
  description: optionalOrEmpty(Text(4096)),
  required_claims: optionalNameList(Claim),
  required_roles: optionalNameList(Claim),
  tags: optionalNameList(Tag),
})
export type ImportMachine = z.infer<typeof ImportMachine>
