import type { Principal } from '#lib/access/principal.ts'
import { isFault, messageOf, ServiceError } from '#lib/errors.ts'
import {
  type CatalogContext,
  checkIfMatch,
  createProviderTimeLimit,
  publishManifestEvent,
  toLockKey,
} from './changes.ts'
import { findManifests } from './find.ts'
import { findPromotedAfter } from './latest.ts'
import { listObjectPaths, toPackPath } from './manifest-objects.ts'
import { isPushedPack } from './pushed-pack.ts'
import { createOtherOwnersCheck } from './owners.ts'
import type { CatalogReference } from './reference.ts'
import { type ManifestRow, getStorage } from './view.ts'
import { commitAll, putLatestTags } from './commit-all.ts'
import { createVisibilityCheck } from './visibility.ts'

/**
 * Removes the objects that belong to a manifest and to no other one. Objects that no push has written, such as those of an
 * import, stay: then this gives the path of the pack.
 */
const removeObjects = async (
  context: CatalogContext,
  manifest: ManifestRow,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const [storage, packPath] = [getStorage(manifest), toPackPath(manifest)]
  if (!storage || packPath === undefined) return undefined
  const provider = await context.storages.open(storage)
  if (!(await isPushedPack(provider, packPath, sha256 => sha256 === manifest.pack_sha256, signal))) return packPath
  const hasOtherOwner = await createOtherOwnersCheck(context, manifest, storage)
  for (const path of listObjectPaths(manifest))
    if ((await provider.stat(path, signal)) && !(await hasOtherOwner(path))) await provider.remove(path, signal)
  return undefined
}

/** Removes the record of a manifest. If it was of the latest version of its catalog id, the previous version becomes the latest. */
const removeRecord = (context: CatalogContext, manifest: ManifestRow): Promise<void> =>
  context.withLock(manifest.catalog_id, () =>
    commitAll(context, () => {
      // Reads its present tags: the deletion of another version may have made it the latest.
      const promoted = findPromotedAfter(context.inventory, context.inventory.get(manifest.id) ?? manifest)
      return {
        writes: [
          context.manifests.remove({ id: manifest.id }),
          context.contents.remove(manifest.id),
          ...putLatestTags(context, promoted, true),
          publishManifestEvent(context.publish, 'REMOVED', manifest),
        ],
        basedOn: promoted,
        changedIds: [manifest, ...promoted].map(({ id }) => id),
      }
    }),
  )

export interface RemovalOptions {
  /** With false the objects on the provider stay. */
  readonly cleanRemote: boolean
  /** The manifests must have one of these common ETags; any when undefined. */
  readonly ifMatch: readonly string[] | undefined
  /** Aborted when the caller has gone. Manifests whose deletion has not begun then stay. */
  readonly signal: AbortSignal
}

/** The faults of a provider that a failed deletion has too. Any other becomes `upstream`. */
const forwardedFaults = ['forbidden', 'unavailable', 'timeout', 'unsupported'] as const

export interface RemovalResult {
  /** The number of deleted manifests. */
  readonly count: number
  /** The packs that stay on their providers, because no push of a service of this kind has written them. */
  readonly remainingPacks: readonly string[]
}

/**
 * Deletes the manifests of a reference that the caller may see: of each one first the objects on the provider, then the record.
 * Throws `not-found` and `precondition-failed`. When a provider fails this throws `upstream`, or `forbidden`, `unavailable`,
 * `timeout` or `unsupported` as the provider does: then that manifest and the following ones stay, and the message says so.
 */
export const removeManifests = async (
  context: CatalogContext,
  caller: Principal,
  reference: CatalogReference,
  { cleanRemote, ifMatch, signal }: RemovalOptions,
): Promise<RemovalResult> => {
  const found = findManifests(context.inventory, caller, reference, true)
  checkIfMatch(found, ifMatch)
  const remainingPacks: string[] = []
  let count = 0
  const removeManifest = async (row: ManifestRow, index: number): Promise<void> => {
    // It may have changed during the wait for the lock.
    const manifest = context.inventory.get(row.id)
    if (!manifest || !createVisibilityCheck(caller)(manifest)) return
    if (found.length === 1) checkIfMatch([manifest], ifMatch)
    using timeLimit = createProviderTimeLimit()
    try {
      const remainingPack = cleanRemote ? await removeObjects(context, manifest, timeLimit.signal) : undefined
      if (remainingPack !== undefined) remainingPacks.push(remainingPack)
    } catch (error) {
      throw new ServiceError(
        forwardedFaults.find(fault => isFault(error, fault)) ?? 'upstream',
        `${index} of ${found.length} manifests were deleted. ${row.name} was not, because its provider failed: ${messageOf(error)}`,
        { cause: error },
      )
    }
    await removeRecord(context, context.inventory.get(row.id) ?? manifest)
    count += 1
  }
  for (const [index, row] of found.entries())
    await context.withLock(toLockKey(row), () => removeManifest(row, index), signal)
  return { count, remainingPacks }
}
