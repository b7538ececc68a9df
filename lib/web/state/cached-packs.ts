import type { CachedManifest } from '#lib/client/api.gen.ts'
import { createReloadedCollection } from './collection.ts'
import { client } from './service.ts'

/** The packs in the cache of this host. */
export const cachedPacks = createReloadedCollection<CachedManifest>({
  load: () => client.api.catalogCache.list(),
  area: 'catalogCache',
  messages: /^CACHE_ITEM_/,
})
