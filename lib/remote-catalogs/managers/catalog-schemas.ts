import * as z from 'zod'
import {
  ManifestReferenceParams,
  CatalogReferenceParams as PlaceInCatalog,
  isNotReserved,
  reservedNameMessage,
  Segment,
} from '#lib/catalog/reference.ts'
import { CatalogManifest as Manifest } from '#lib/catalog/manifest-schema.ts'
import { ImportResult } from '#lib/catalog/schemas.ts'
import { optionalOrEmpty } from '#lib/catalog/schemas.ts'
import { CatalogManagerReference } from './schemas.ts'

export const ManagedCatalogParams = CatalogManagerReference
export const ManagedManifestParams = ManagedCatalogParams.extend(ManifestReferenceParams.shape)
/** Any depth. */
export const ManagedReferenceParams = ManagedCatalogParams.extend(PlaceInCatalog.shape)

/** Passed on, but for what browsers sign in with. */
export const PassThroughQuery = z.record(z.string(), z.string()).transform(given => {
  const { access_token: _, authorization: __, ...query } = given
  return query
})

/** Read by the remote service, in its own way. */
export const PassThroughBody = z.record(z.string(), z.unknown())

/** What such a body is about has to be known: it may be there, and not to be seen. */
export const PassThroughRegistration = z.looseObject({
  catalog_id: z
    .string()
    .trim()
    .regex(/^(?!\.{1,2}$)\P{C}{1,256}$/u, 'must be a name')
    .refine(isNotReserved, reservedNameMessage),
  version: optionalOrEmpty(Segment),
})

/** Bytes of such a body: a manifest names every file of its machine. */
export const bodyLimit = 4 * 1024 * 1024

/** Manifests as the remote service writes them. */
export const RemoteManifests = z.array(z.record(z.string(), z.unknown()))
export const RemoteImport = z.record(z.string(), z.unknown())

const RemoteManifest = Manifest.partial().loose().meta({
  id: 'RemoteManifest',
  description: 'A manifest as the remote service writes it: it may lack members, or have more',
})

/** The form of such manifests, where the remote service is one of this kind. */
export const passThroughManifests = { reply: z.array(RemoteManifest) } as const
export const passThroughImport = {
  reply: ImportResult.partial()
    .extend({ manifest: RemoteManifest.optional() })
    .loose()
    .meta({ id: 'RemoteImport', description: 'What the remote service says of an import' }),
} as const
