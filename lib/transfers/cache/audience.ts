import type { Principal } from '#lib/access/principal.ts'
import type { Inventory } from '#lib/catalog/inventory.ts'
import type { StoredManifest } from '#lib/catalog/manifest-schema.ts'
import { createVisibilityCheck } from '#lib/catalog/visibility.ts'
import type { CacheItem } from './cached-manifest.ts'

type Present = Pick<Inventory, 'get'>

/** The manifest of this catalog that an item is of, as it is now. */
const presentOf = (inventory: Present, { catalog, manifest }: CacheItem): StoredManifest | undefined =>
  catalog === undefined ? inventory.get(manifest.id) : undefined

/** Who is told of an item. Where roles decide, or nothing any more, super users alone are. */
export const toldOf = (inventory: Present, item: CacheItem): { claims: string[]; users: string[] } => {
  if (item.catalog !== undefined) return { claims: [], users: item.owner === undefined ? [] : [item.owner] }
  const present = presentOf(inventory, item)
  if (!present || present.required_roles.length > 0) return { claims: [], users: [] }
  return { claims: present.required_claims.length > 0 ? [...present.required_claims] : ['LIST_CACHE'], users: [] }
}

/**
 * Whether a caller may know of an item: of this catalog who may know of its manifest, as that is now; of another one who
 * pulled it, for what opened that was theirs. Another manifest with the same digest says nothing: whoever knows the digest of
 * a pack can register that.
 */
export const knownTo = (inventory: Present, caller: Principal): ((item: CacheItem) => boolean) => {
  const sees = createVisibilityCheck(caller)
  return item => {
    if (caller.superUser || (item.catalog !== undefined && item.owner === caller.id)) return true
    const present = presentOf(inventory, item)
    return present !== undefined && sees(present)
  }
}
