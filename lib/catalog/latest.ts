import type { Inventory } from './inventory.ts'
import type { StoredManifest } from './manifest-schema.ts'
import type { Kept } from './view.ts'

/** The tag that the version has which was added last. */
const latest = 'latest'

export const isLatest = ({ tags }: Pick<StoredManifest, 'tags'>): boolean =>
  tags.some(tag => tag.toLowerCase() === latest)

/** The manifest that was added last. */
export const newest = (manifests: readonly Kept[]): Kept | undefined =>
  manifests.reduce<Kept | undefined>((best, one) => (best && best.created_at >= one.created_at ? best : one), undefined)

/** Tags with that of the latest version, or without it. */
export const tagsWith = (tags: readonly string[], isTheLatest: boolean): string[] => [
  ...tags.filter(tag => !isLatest({ tags: [tag] })),
  ...(isTheLatest ? [latest] : []),
]

/** The manifests that are no longer the latest when a version of their catalog id is added. */
export const losersTo = (inventory: Inventory, { catalog_id, version }: StoredManifest): readonly Kept[] =>
  inventory.of(catalog_id).filter(one => one.version !== version && isLatest(one))

/**
 * The manifests that become the latest when one is removed: those of the version that was added last of what is left and
 * not revoked. None while another is the latest still.
 */
export const heirsOf = (inventory: Inventory, removed: Kept): readonly Kept[] => {
  const others = inventory.of(removed.catalog_id).filter(({ id }) => id !== removed.id)
  if (!isLatest(removed) || others.some(isLatest)) return []
  const usable = others.filter(({ revoked }) => !revoked)
  const heir = newest(usable)
  return usable.filter(({ version }) => version === heir?.version)
}
