import { isFault } from '#lib/errors.ts'
import type { Write } from '#lib/storage/store.ts'
import type { CatalogContext } from './changes.ts'
import { setLatestTag } from './latest.ts'
import type { ManifestRow } from './view.ts'

/** A change of several manifests, computed from their present state. */
interface CommitPlan {
  readonly writes: readonly Write[]
  /** The manifests that the plan was computed from. When one has changed since, by a counted download, the plan is made again. */
  readonly basedOn: readonly ManifestRow[]
  /** The ids that the inventory has to reload. */
  readonly changedIds: readonly string[]
}

/** Gives the writes that add the tag of the latest version to manifests, or remove it. */
export const putLatestTags = (
  { manifests }: CatalogContext,
  moved: readonly ManifestRow[],
  isLatest: boolean,
): readonly Write[] =>
  moved.map(manifest =>
    manifests.put({ ...manifest, tags: setLatestTag(manifest.tags, isLatest), edition: manifest.edition + 1 }),
  )

/** Commits a plan as a whole. The caller holds the lock of the catalog id. Throws what the plan and the commit throw. */
export const commitAll = async (
  { commit, inventory }: CatalogContext,
  plan: () => Promise<CommitPlan> | CommitPlan,
): Promise<void> => {
  for (;;) {
    const { writes, basedOn, changedIds } = await plan()
    try {
      await commit(writes)
      await Promise.all(changedIds.map(inventory.refresh))
      return
    } catch (error) {
      await Promise.all(basedOn.map(({ id }) => inventory.refresh(id)))
      // If no revision has changed, the conflict has another reason, and a retry would not help.
      if (!isFault(error, 'conflict') || basedOn.every(({ id, rev }) => inventory.get(id)?.rev === rev)) throw error
    }
  }
}
