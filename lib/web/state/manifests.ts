import type { CatalogManifest } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The manifests of the catalog that the user may see. */
export const manifests = createReloadedCollection<CatalogManifest>({
  load: () => client.api.catalog.list(),
  area: 'catalog',
  messages: /^CATALOG_MANIFEST_/,
})
