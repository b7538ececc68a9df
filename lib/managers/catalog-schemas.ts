import * as z from 'zod'
import { CatalogManagerReference } from './schemas.ts'

/** What stands below `/v1/catalog` in the place of an id, and is no manifest. */
const isNoRoute = (name: string): boolean => !/^(cache|push|pull|import|import-vm)$/i.test(name)
const notAnId = 'is not an id of the catalog'

/** One segment of the remote path: it must stay one there, whatever reads that path on its way. */
const Segment = z
  .string()
  .min(1)
  .max(256)
  .regex(/^(?!\.{1,2}$)[^\p{C}/\\%?#;]+$/u, 'must be one name')

export const Catalog = CatalogManagerReference
export const CatalogOfId = Catalog.extend({
  catalogId: Segment.refine(isNoRoute, notAnId).meta({ description: 'Catalog ID' }),
})
export const CatalogVersion = CatalogOfId.extend({ version: Segment })
export const CatalogManifest = CatalogVersion.extend({ architecture: Segment })
/** Any depth. */
export const CatalogPlace = CatalogOfId.extend({ version: Segment.optional(), architecture: Segment.optional() })

/** Passed on, but for what browsers sign in with. */
export const PassedQuery = z.record(z.string(), z.string()).transform(given => {
  const { access_token: _, authorization: __, ...query } = given
  return query
})

/** Packs are pulled, not passed on. */
export const DownloadQuery = PassedQuery.refine(query => !('content' in query), {
  path: ['content'],
  message: 'is not passed on: pull the manifest in place of it',
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
