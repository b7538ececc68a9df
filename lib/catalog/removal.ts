import type { Principal } from '#lib/auth/principal.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { type CatalogContext, checkMatch, manifestEvent, turnOf } from './changes.ts'
import { findManifests } from './find.ts'
import { heirsOf } from './latest.ts'
import { objectsOf } from './objects.ts'
import { ownedByOthers } from './owners.ts'
import type { Place } from './place.ts'
import { type Kept, storageOf } from './shown.ts'
import { commitTogether, latestMoved } from './together.ts'
import { visibleTo } from './visible.ts'

/** Removes the objects that belong to a manifest and to none of the others. */
const removeObjects = async (context: CatalogContext, manifest: Kept): Promise<void> => {
  const storage = storageOf(manifest)
  if (!storage) return
  const provider = await context.storages.open(storage)
  const keeps = await ownedByOthers(context, manifest, storage)
  for (const path of objectsOf(manifest)) {
    // An imported bundle is a folder.
    if (manifest.pack_relative_path !== '')
      for await (const inside of provider.list(path))
        if (!(await keeps(inside.path))) await provider.remove(inside.path)
    if ((await provider.stat(path)) && !(await keeps(path))) await provider.remove(path)
  }
}

/** Removes a record; when it was the latest version of its catalog id, the one before it is that now. */
const forget = (context: CatalogContext, manifest: Kept): Promise<void> =>
  context.turns(manifest.catalog_id, () =>
    commitTogether(context, () => {
      // As it is now: another version that was deleted may have made it the latest.
      const heirs = heirsOf(context.inventory, context.inventory.get(manifest.id) ?? manifest)
      return {
        writes: [
          context.manifests.remove({ id: manifest.id }),
          ...latestMoved(context, heirs, true),
          manifestEvent(context.tell, 'REMOVED', manifest),
        ],
        seen: heirs,
        changed: [manifest, ...heirs].map(({ id }) => id),
      }
    }),
  )

export interface Removal {
  /** false leaves the objects where they are */
  readonly cleanRemote: boolean
  /** Tags of which what is deleted must have one, as it was shown; any when undefined. */
  readonly ifMatch: readonly string[] | undefined
}

/**
 * Deletes what a caller may know of at a place: of each manifest first its objects on the provider, then the record. Gives
 * how many there were. Throws `not-found`, `precondition-failed`, and `upstream` when a provider fails: that manifest and
 * those after it stay, and the message says so.
 */
export const removeManifests = async (
  context: CatalogContext,
  caller: Principal,
  place: Place,
  { cleanRemote, ifMatch }: Removal,
): Promise<number> => {
  const all = findManifests(context.inventory, caller, place, true)
  checkMatch(all, ifMatch)
  let removed = 0
  for (const [at, one] of all.entries())
    await context.turns(turnOf(one), async () => {
      // It may have changed while others had their turns.
      const manifest = context.inventory.get(one.id)
      if (!manifest || !visibleTo(caller)(manifest)) return
      if (all.length === 1) checkMatch([manifest], ifMatch)
      try {
        if (cleanRemote) await removeObjects(context, manifest)
      } catch (error) {
        throw new ServiceError(
          'upstream',
          `${at} of ${all.length} manifests were deleted; ${one.name} was not, for its provider failed: ${messageOf(error)}`,
          { cause: error },
        )
      }
      await forget(context, context.inventory.get(one.id) ?? manifest)
      removed += 1
    })
  return removed
}
