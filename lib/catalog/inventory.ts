import type { Collection } from '#lib/storage/store.ts'
import type { StoredManifest } from './manifest-schema.ts'
import type { ManifestRow } from './view.ts'

/** The position of a manifest in the order of the list. */
export interface ListPosition {
  readonly updated_at: string
  readonly id: string
}

/** The manifests of the store in memory, in the order of the list: the latest update first. */
export interface Inventory {
  list(): readonly ManifestRow[]
  /** The manifests after a position, at which there may be none. Read them at once, before a manifest changes. */
  listAfter(position: ListPosition): Iterable<ManifestRow>
  /** All versions and architectures of a catalog id, in the same order. */
  listVersions(catalogId: string): readonly ManifestRow[]
  get(id: string): ManifestRow | undefined
  /** The number of manifests that a user has registered. */
  countOwnedBy(userId: string): number
  /** Reloads a manifest from the store. Whoever changes one has to call this. */
  refresh(id: string): Promise<void>
}

// By code unit: the times all have one format, and a client can repeat this comparison in any language.
const comparePositions = (a: ListPosition, b: ListPosition): number =>
  a.updated_at === b.updated_at ? (a.id < b.id ? -1 : a.id > b.id ? 1 : 0) : a.updated_at > b.updated_at ? -1 : 1

/** The index in a sorted list at which a position is, or would be inserted. */
const findLowerBound = (list: readonly ListPosition[], position: ListPosition): number => {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    // The middle of a range that is not empty is in it.
    if (comparePositions(list[middle]!, position) < 0) low = middle + 1
    else high = middle
  }
  return low
}

const removeFrom = (list: ManifestRow[], manifest: ManifestRow): void =>
  void list.splice(findLowerBound(list, manifest), 1)

const insertInto = (list: ManifestRow[], manifest: ManifestRow): void =>
  void list.splice(findLowerBound(list, manifest), 0, manifest)

/** Loads the manifests of a collection. */
export const openInventory = async (manifests: Collection<StoredManifest>): Promise<Inventory> => {
  const sorted: ManifestRow[] = (await manifests.list()).toSorted(comparePositions)
  const byId = new Map(sorted.map(manifest => [manifest.id, manifest]))
  const byCatalogId = Map.groupBy(sorted, manifest => manifest.catalog_id)

  const ownerCounts = new Map<string, number>()
  const changeOwnerCount = (manifest: ManifestRow | undefined, by: 1 | -1): void => {
    if (manifest?.owner_id === undefined) return
    const count = (ownerCounts.get(manifest.owner_id) ?? 0) + by
    if (count === 0) ownerCounts.delete(manifest.owner_id)
    else ownerCounts.set(manifest.owner_id, count)
  }
  for (const manifest of sorted) changeOwnerCount(manifest, 1)

  return {
    list: () => sorted,
    *listAfter(position) {
      const start = findLowerBound(sorted, position)
      // A generator, because a page needs few of the remaining manifests.
      let at = sorted[start]?.id === position.id ? start + 1 : start
      for (let manifest = sorted[at]; manifest; at += 1, manifest = sorted[at]) yield manifest
    },
    listVersions: catalogId => byCatalogId.get(catalogId) ?? [],
    get: id => byId.get(id),
    countOwnedBy: userId => ownerCounts.get(userId) ?? 0,
    async refresh(id) {
      const after = await manifests.get(id)
      // Read after the wait: a concurrent refresh may have replaced the manifest, and the wrong one would be removed.
      const before = byId.get(id)
      changeOwnerCount(before, -1)
      changeOwnerCount(after, 1)
      const versions = byCatalogId.get((before ?? after)?.catalog_id ?? '') ?? []
      for (const list of [sorted, versions]) {
        if (before) removeFrom(list, before)
        if (after) insertInto(list, after)
      }
      if (after) {
        byId.set(id, after)
        byCatalogId.set(after.catalog_id, versions)
      } else byId.delete(id)
      if (versions.length === 0 && before) byCatalogId.delete(before.catalog_id)
    },
  }
}
