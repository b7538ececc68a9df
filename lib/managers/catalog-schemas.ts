import * as z from 'zod'
import {
  CatalogManifestPlace,
  CatalogPlace as PlaceInCatalog,
  isNoRoute,
  notAnId,
  Segment,
} from '#lib/catalog/place.ts'
import { CatalogManagerReference } from './schemas.ts'

export const Catalog = CatalogManagerReference
export const CatalogManifest = Catalog.extend(CatalogManifestPlace.shape)
/** Any depth. */
export const CatalogPlace = Catalog.extend(PlaceInCatalog.shape)

/** Passed on, but for what browsers sign in with. */
export const PassedQuery = z.record(z.string(), z.string()).transform(given => {
  const { access_token: _, authorization: __, ...query } = given
  return query
})

/** Read by the remote service, in its own way. */
export const PassedBody = z.record(z.string(), z.unknown())

/** What such a body is about has to be known: it may be there, and not to be seen. */
export const RegisteredBody = z.looseObject({
  catalog_id: z
    .string()
    .trim()
    .regex(/^(?!\.{1,2}$)\P{C}{1,256}$/u, 'must be a name')
    .refine(isNoRoute, notAnId),
  version: Segment.optional(),
})

/** Bytes of such a body: a manifest names every file of its machine. */
export const bodyLimit = 4 * 1024 * 1024

/** Manifests as the remote service writes them. */
export const RemoteManifests = z.array(z.record(z.string(), z.unknown()).meta({ id: 'RemoteManifest' }))
export const RemoteImport = z.record(z.string(), z.unknown()).meta({ id: 'RemoteImport' })
