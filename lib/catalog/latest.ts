import type { Inventory } from './inventory.ts'
import type { StoredManifest } from './manifest-schema.ts'
import type { ManifestRow } from './view.ts'

/** The tag of the version that was added last. */
const latest = 'latest'

export const isLatest = ({ tags }: Pick<StoredManifest, 'tags'>): boolean =>
  tags.some(tag => tag.toLowerCase() === latest)

/** Finds the manifest that was added last. */
export const findNewest = (manifests: readonly ManifestRow[]): ManifestRow | undefined =>
  manifests.reduce<ManifestRow | undefined>(
    (newest, manifest) => (newest && newest.created_at >= manifest.created_at ? newest : manifest),
    undefined,
  )

/** Adds the tag of the latest version to tags, or removes it. */
export const setLatestTag = (tags: readonly string[], isTheLatest: boolean): string[] => [
  ...tags.filter(tag => !isLatest({ tags: [tag] })),
  ...(isTheLatest ? [latest] : []),
]

/** Finds the manifests that stop being the latest when another version of their catalog id is added. */
export const findDemotedBy = (inventory: Inventory, { catalog_id, version }: StoredManifest): readonly ManifestRow[] =>
  inventory.listVersions(catalog_id).filter(manifest => manifest.version !== version && isLatest(manifest))

/**
 * Finds the manifests that become the latest when one is removed: those of the remaining version that was added last and is
 * not revoked. There are none while another manifest is still the latest.
 */
export const findPromotedAfter = (inventory: Inventory, removed: ManifestRow): readonly ManifestRow[] => {
  const others = inventory.listVersions(removed.catalog_id).filter(({ id }) => id !== removed.id)
  if (!isLatest(removed) || others.some(isLatest)) return []
  const usable = others.filter(({ revoked }) => !revoked)
  const newest = findNewest(usable)
  return usable.filter(({ version }) => version === newest?.version)
}
