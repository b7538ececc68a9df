import { isFault } from '#lib/errors.ts'
import type { Write } from '#lib/storage/store.ts'
import type { CatalogContext } from './changes.ts'
import { tagsWith } from './latest.ts'
import type { Kept } from './view.ts'

/** A change of several manifests, worked out from what they are now. */
interface Plan {
  readonly writes: readonly Write[]
  /** Those that are to be as they were seen: when one was changed meanwhile, by a counted download, the plan is made again. */
  readonly seen: readonly Kept[]
  /** The ids that the inventory is to look at again. */
  readonly changed: readonly string[]
}

/** Manifests that become the latest, or are it no more, as parts of a plan. */
export const latestMoved = (
  { manifests }: CatalogContext,
  moved: readonly Kept[],
  isTheLatest: boolean,
): readonly Write[] =>
  moved.map(one => manifests.put({ ...one, tags: tagsWith(one.tags, isTheLatest), edition: one.edition + 1 }))

/** Commits a plan as a whole. To be called in the turn of the catalog id. Throws what the plan does, and the commit. */
export const commitTogether = async (
  { commit, inventory }: CatalogContext,
  plan: () => Promise<Plan> | Plan,
): Promise<void> => {
  for (;;) {
    const { writes, seen, changed } = await plan()
    try {
      await commit(writes)
      await Promise.all(changed.map(inventory.refresh))
      return
    } catch (error) {
      await Promise.all(seen.map(({ id }) => inventory.refresh(id)))
      if (!isFault(error, 'conflict') || seen.every(({ id, rev }) => inventory.get(id)?.rev === rev)) throw error
    }
  }
}
