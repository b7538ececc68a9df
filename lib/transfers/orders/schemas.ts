import * as z from 'zod'
import { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { Text } from '#lib/catalog/schemas.ts'

/** The most objects of other manifests beside which a push can write. */
export const maxHiddenPaths = 200

/** What a control says of its catalog to the host that pushes for it. */
export const TargetOrder = z
  .object({
    id: z.uuid().meta({ description: 'Id of the manifest if it is new' }),
    existing: z
      .object({
        id: z.uuid().optional(),
        pack_filename: Text(255),
        pack_sha256: z.string().regex(/^([0-9a-f]{64})?$/),
        revoked: z.boolean(),
      })
      .optional()
      .meta({ description: 'The manifest that the push replaces' }),
    hidden: z.array(Text(1024)).max(maxHiddenPaths).meta({ description: 'Objects that the push must not overwrite' }),
  })
  .meta({
    id: 'PushTarget',
    description:
      'Only a control sends this, signed. The host then uploads the pack and replies with what the control registers',
  })
export type TargetOrder = z.infer<typeof TargetOrder>

/** What a control says to a host of the pack that the host pulls for it. */
export const SourceOrder = z
  .object({
    manifest: CatalogManifest,
    catalog: Text(2048).optional().meta({ description: 'Address of the catalog; that of the control when left out' }),
    storage: z
      .object({ type: Text(64), meta: z.record(z.string(), Text(8192)) })
      .optional()
      .meta({ description: 'Where the pack is. When left out, the host reads the pack through the control' }),
    md5: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional()
      .meta({ description: 'MD5 of the pack, if the manifest has no SHA-256' }),
    job: z.uuid().optional().meta({ description: 'The job of the control under which the host reads the pack' }),
  })
  .meta({
    id: 'PullSource',
    description: 'Only a control sends this, signed. The host then pulls this pack and asks no catalog',
  })
export type SourceOrder = z.infer<typeof SourceOrder>
