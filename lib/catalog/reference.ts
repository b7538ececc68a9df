import * as z from 'zod'

/** Whether a name can be a catalog id. The other names are routes below `/v1/catalog`. */
export const isNotReserved = (name: string): boolean => !/^(cache|garbage|push|pull|import|import-vm)$/i.test(name)
export const reservedNameMessage = 'is not an id of the catalog'

/** One segment of a path. It must not become several, whatever parses the path on its way. */
export const Segment = z
  .string()
  .min(1)
  .max(256)
  .regex(/^(?!\.{1,2}$)[^\p{C}/\\%?#;]+$/u, 'must be one name')

const CatalogIdParams = z.object({
  catalogId: Segment.refine(isNotReserved, reservedNameMessage).meta({ description: 'Catalog ID' }),
})

/** A complete reference, which names one manifest. The version may be a tag. */
export const ManifestReferenceParams = CatalogIdParams.extend({ version: Segment, architecture: Segment })
export type ManifestReference = z.infer<typeof ManifestReferenceParams>

/** A reference of any depth: a catalog id, one of its versions, or an architecture of a version. */
export const CatalogReferenceParams = CatalogIdParams.extend({
  version: Segment.optional(),
  architecture: Segment.optional(),
})
export type CatalogReference = z.infer<typeof CatalogReferenceParams>
