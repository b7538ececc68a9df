import * as z from 'zod'

/** What stands below `/v1/catalog` in the place of an id, and is no manifest. */
export const isNoRoute = (name: string): boolean => !/^(cache|garbage|push|pull|import|import-vm)$/i.test(name)
export const notAnId = 'is not an id of the catalog'

/** One segment of a path: it must stay one, whatever reads that path on its way. */
export const Segment = z
  .string()
  .min(1)
  .max(256)
  .regex(/^(?!\.{1,2}$)[^\p{C}/\\%?#;]+$/u, 'must be one name')

export const CatalogOfId = z.object({
  catalogId: Segment.refine(isNoRoute, notAnId).meta({ description: 'Catalog ID' }),
})
export const CatalogManifestPlace = CatalogOfId.extend({ version: Segment, architecture: Segment })

/** Any depth: a catalog id, one of its versions, or an architecture of that. */
export const CatalogPlace = CatalogOfId.extend({ version: Segment.optional(), architecture: Segment.optional() })
export type Place = z.infer<typeof CatalogPlace>
