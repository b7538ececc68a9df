import type { Principal } from '#lib/auth/principal.ts'
import type { Inventory } from '../inventory.ts'
import type { CatalogManifest } from '../manifest.ts'
import { shownManifest } from '../shown.ts'
import { visibleTo } from '../visible.ts'
import type { CacheItem } from './record.ts'

type Present = Pick<Inventory, 'all' | 'get'>

/** What decides who may know of an item: of this catalog the manifest as it is now, of another host's what it told. */
const judgedBy = (
  inventory: Present,
  { local, manifest }: CacheItem,
): Pick<CatalogManifest, 'required_claims' | 'required_roles'> | undefined =>
  local ? inventory.get(manifest.id) : manifest

/** The claims whose holders are told of an item. Where roles decide, or nothing any more, super users alone are. */
export const claimsToTell = (inventory: Present, item: CacheItem): string[] => {
  const own = judgedBy(inventory, item)
  if (!own || own.required_roles.length > 0) return []
  return own.required_claims.length > 0 ? own.required_claims : ['LIST_CACHE']
}

/**
 * Gives the manifest by which a caller may know of an item: its own, or another one of this catalog with the same pack;
 * undefined when there is none. Whose manifest was deleted only super users know of.
 */
export const knownTo = (inventory: Present, caller: Principal): ((item: CacheItem) => CatalogManifest | undefined) => {
  const sees = visibleTo(caller)
  return item => {
    const own = judgedBy(inventory, item)
    if (caller.superUser || (own && sees(own))) return item.manifest
    const other = inventory.all().find(one => one.pack_sha256 === item.sha256 && sees(one))
    return other && shownManifest(other)
  }
}
