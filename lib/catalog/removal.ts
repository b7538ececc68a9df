import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import { type CatalogContext, checkMatch, manifestEvent, turnOf } from './changes.ts'
import { findManifests } from './find.ts'
import { heirsOf } from './latest.ts'
import { objectsOf, packPath } from './manifest-objects.ts'
import { isOurs } from './own-objects.ts'
import { ownedByOthers } from './owners.ts'
import type { Place } from './reference.ts'
import { limitProvider } from './provider-limit.ts'
import { type Kept, storageOf } from './view.ts'
import { commitTogether, latestMoved } from './commit-all.ts'
import { visibleTo } from './visibility.ts'

/**
 * Removes the objects that belong to a manifest and to none of the others. What a push has not put there, as what was
 * imported, is left where it is: gives the path of that.
 */
const removeObjects = async (
  context: CatalogContext,
  manifest: Kept,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const [storage, packAt] = [storageOf(manifest), packPath(manifest)]
  if (!storage || packAt === undefined) return undefined
  const provider = await context.storages.open(storage)
  if (!(await isOurs(provider, packAt, sha256 => sha256 === manifest.pack_sha256, signal))) return packAt
  const keeps = await ownedByOthers(context, manifest, storage)
  for (const path of objectsOf(manifest))
    if ((await provider.stat(path, signal)) && !(await keeps(path))) await provider.remove(path, signal)
  return undefined
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
          context.contents.remove(manifest.id),
          ...latestMoved(context, heirs, true),
          manifestEvent(context.publish, 'REMOVED', manifest),
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
  /** Of who waits for it: what is not begun then stays. */
  readonly signal: AbortSignal
}

/** What says more of a failed deletion than that its provider failed. */
const faultsKept = ['forbidden', 'unavailable', 'timeout', 'unsupported'] as const

export interface Removed {
  /** How many manifests there were. */
  readonly count: number
  /** Packs that were left on their providers, for no push of a service of this kind has put them there. */
  readonly left: readonly string[]
}

/**
 * Deletes what a caller may know of at a place: of each manifest first its objects on the provider, then the record. Throws
 * `not-found`, `precondition-failed`, and `upstream` when a provider fails, or `forbidden`, `unavailable`, `timeout` and
 * `unsupported` where it says so: that manifest and those after it stay, and the message says so.
 */
export const removeManifests = async (
  context: CatalogContext,
  caller: Principal,
  place: Place,
  { cleanRemote, ifMatch, signal }: Removal,
): Promise<Removed> => {
  const all = findManifests(context.inventory, caller, place, true)
  checkMatch(all, ifMatch)
  const left: string[] = []
  let count = 0
  const remove = async (one: Kept, at: number): Promise<void> => {
    // It may have changed while others had their turns.
    const manifest = context.inventory.get(one.id)
    if (!manifest || !visibleTo(caller)(manifest)) return
    if (all.length === 1) checkMatch([manifest], ifMatch)
    using limited = limitProvider()
    try {
      const stays = cleanRemote ? await removeObjects(context, manifest, limited.signal) : undefined
      if (stays !== undefined) left.push(stays)
    } catch (error) {
      throw new ServiceError(
        faultsKept.find(fault => isFault(error, fault)) ?? 'upstream',
        `${at} of ${all.length} manifests were deleted; ${one.name} was not, for its provider failed: ${messageOf(error)}`,
        { cause: error },
      )
    }
    await forget(context, context.inventory.get(one.id) ?? manifest)
    count += 1
  }
  for (const [at, one] of all.entries()) await context.turns(turnOf(one), () => remove(one, at), signal)
  return { count, left }
}
