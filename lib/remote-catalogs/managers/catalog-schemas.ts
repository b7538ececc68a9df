import * as z from 'zod'
import {
  CatalogReferenceParams,
  isNotReserved,
  ManifestReferenceParams,
  reservedNameMessage,
  Segment,
} from '#lib/catalog/reference.ts'
import { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { ImportResult, optionalOrEmpty } from '#lib/catalog/schemas.ts'
import { CatalogManagerReference } from './schemas.ts'

export const ManagedManifestParams = CatalogManagerReference.extend(ManifestReferenceParams.shape)
/** A reference of any depth. */
export const ManagedReferenceParams = CatalogManagerReference.extend(CatalogReferenceParams.shape)

/** A query that is forwarded without the tokens that browsers put there. */
export const PassThroughQuery = z.record(z.string(), z.string()).transform(given => {
  const { access_token: _, authorization: __, ...query } = given
  return query
})

/** A body that only the remote service parses. */
export const PassThroughBody = z.record(z.string(), z.unknown())

/** A registration, which the remote service parses. This one reads which manifest it names, because that may be a hidden one. */
export const PassThroughRegistration = z.looseObject({
  catalog_id: z
    .string()
    .trim()
    .regex(/^(?!\.{1,2}$)\P{C}{1,256}$/u, 'must be a name')
    .refine(isNotReserved, reservedNameMessage),
  version: optionalOrEmpty(Segment),
})

/** Manifests in the format of the remote service. */
export const RemoteManifests = z.array(z.record(z.string(), z.unknown()))
export const RemoteImport = z.record(z.string(), z.unknown())

const RemoteManifest = CatalogManifest.partial().loose().meta({
  id: 'RemoteManifest',
  description: 'A manifest in the format of the remote service: it may lack members, or have more',
})

/** The reply of a remote service of this kind, for the OpenAPI document. */
export const passThroughManifests = { reply: z.array(RemoteManifest) } as const
export const passThroughImport = {
  reply: ImportResult.partial()
    .extend({ manifest: RemoteManifest.optional() })
    .loose()
    .meta({ id: 'RemoteImport', description: 'The result of an import in the format of the remote service' }),
} as const
