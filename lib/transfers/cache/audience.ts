import type { Principal } from '#lib/access/principal.ts'
import type { Inventory } from '#lib/catalog/inventory.ts'
import type { StoredManifest } from '#lib/catalog/manifest-schema.ts'
import { createVisibilityCheck } from '#lib/catalog/visibility.ts'
import type { CacheItem } from './cached-manifest.ts'

type ManifestReader = Pick<Inventory, 'get'>

/** Finds the manifest of an item as it is now. Returns undefined for an item of another catalog. */
const findPresentManifest = (inventory: ManifestReader, { catalog, manifest }: CacheItem): StoredManifest | undefined =>
  catalog === undefined ? inventory.get(manifest.id) : undefined

/** Returns who gets the events of an item: only super users, if roles decide who may see it or its manifest is deleted. */
export const getAudience = (inventory: ManifestReader, item: CacheItem): { claims: string[]; users: string[] } => {
  if (item.catalog !== undefined) return { claims: [], users: item.owner === undefined ? [] : [item.owner] }
  const manifest = findPresentManifest(inventory, item)
  if (!manifest || manifest.required_roles.length > 0) return { claims: [], users: [] }
  return { claims: manifest.required_claims.length > 0 ? [...manifest.required_claims] : ['LIST_CACHE'], users: [] }
}

/**
 * Creates a function that says whether a caller may see an item. An item of this catalog is visible with its manifest as that
 * is now. An item of another catalog is visible to the user who pulled it with their own credentials. A manifest with the
 * same digest does not count, because anybody who knows the digest of a pack can register one.
 */
export const createItemVisibilityCheck = (
  inventory: ManifestReader,
  caller: Principal,
): ((item: CacheItem) => boolean) => {
  const isVisible = createVisibilityCheck(caller)
  return item => {
    if (caller.superUser || (item.catalog !== undefined && item.owner === caller.id)) return true
    const manifest = findPresentManifest(inventory, item)
    return manifest !== undefined && isVisible(manifest)
  }
}
