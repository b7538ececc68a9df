import type { CatalogManager } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The catalog managers that the user may use. */
export const managers = createReloadedCollection<CatalogManager>({
  load: () => client.api.catalogManagers.list(),
  area: 'catalogManagers',
  messages: /^CATALOG_MANAGER_/,
})
