import { createTimeLimit, type TimeLimit } from '#lib/async/time-limit.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Collection, Write } from '#lib/storage/store.ts'
import type { IndexParser } from '#lib/packs/chunks/index-parser.ts'
import type { OwnLocks } from '#lib/packs/chunk-store/own-locks.ts'
import type { Clock } from './timestamps.ts'
import type { ContentStore } from './contents.ts'
import { findManifest, findManifests } from './find.ts'
import type { Inventory } from './inventory.ts'
import { refuseHiddenObjects } from './owners.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { updateMetadata } from './metadata.ts'
import { formatManifestName } from './identifiers.ts'
import type { ManifestReference } from './reference.ts'
import { formatCommonETag, type ManifestRow } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'
import type { KeyedMutex } from '#lib/async/keyed-mutex.ts'
import { undoAfterFailure } from './undo.ts'

/** Milliseconds that a provider has for one request, while nobody else can change the manifest. */
const providerTimeout = 10 * 60_000

/** Makes the time limit for calls of a provider that hold the lock of a manifest. */
export const createProviderTimeLimit = (signal?: AbortSignal): TimeLimit =>
  createTimeLimit(
    providerTimeout,
    `The provider has not finished within ${providerTimeout / 60_000} minutes. Try again when it is faster.`,
    signal,
  )

/** The state that all parts of the catalog share. */
export interface CatalogContext {
  readonly manifests: Collection<StoredManifest>
  readonly inventory: Inventory
  readonly contents: ContentStore
  readonly storages: Storages
  readonly ownLocks: OwnLocks
  readonly indexParser: IndexParser
  /** Gives the times of manifests. */
  readonly clock: Clock
  /** The most manifests that one user may have registered. */
  readonly manifestsPerUser: number
  /**
   * Locks a manifest by `toLockKey` during calls of its provider, which can take long. The lock of its catalog id is taken
   * inside that, because the versions of a catalog id decide together which of them is the latest.
   */
  readonly withLock: KeyedMutex
  readonly commit: (writes: readonly Write[]) => Promise<void>
  readonly publish: Publish
}

/** The key of a manifest's lock. */
export const toLockKey = ({
  catalog_id,
  architecture,
  version,
}: Pick<StoredManifest, 'catalog_id' | 'architecture' | 'version'>): string =>
  `manifest ${formatManifestName(catalog_id, architecture, version)}`

/** A request for a change of one manifest. */
export interface ManifestCall {
  readonly caller: Principal
  readonly reference: ManifestReference
  /** The manifest must have one of these ETags; any when undefined. */
  readonly ifMatch: readonly string[] | undefined
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
}

/**
 * Publishes an event about a manifest. Its audience are the holders of any required claim. An event cannot ask for roles, so
 * only super users get the events of a manifest that requires one.
 */
export const publishManifestEvent = (
  publish: Publish,
  event: string,
  { id, catalog_id, version, architecture, required_claims, required_roles }: StoredManifest,
): Write =>
  publish({
    type: 'system',
    message: `CATALOG_MANIFEST_${event}`,
    body: { id, catalog_id, version, architecture },
    audience: {
      claims: required_roles.length > 0 ? [] : required_claims.length > 0 ? required_claims : ['LIST_CATALOG_MANIFEST'],
    },
  })

/** Removes the revision from an ETag, because a counted download changes it. */
const removeRevision = (etag: string): string => etag.replace(/\.\d+"$/, '')

/** Throws `precondition-failed` when the manifests of one reply have none of these ETags any more. */
export const checkIfMatch = (manifests: readonly ManifestRow[], ifMatch: readonly string[] | undefined): void => {
  const [first, ...others] = manifests
  if (ifMatch && first && !ifMatch.map(removeRevision).includes(removeRevision(formatCommonETag(manifests))))
    throw new ServiceError(
      'precondition-failed',
      others.length === 0
        ? `The manifest ${first.name} was changed since it was read. Read it again, then repeat the change.`
        : `The manifests of ${first.catalog_id} were changed since they were read. Read them again, then repeat the change.`,
    )
}

interface ManifestChange {
  readonly event: string
  /** Checks with the provider whether the change is possible, and throws if it is not. */
  readonly check?: (manifest: ManifestRow, signal: AbortSignal) => Promise<void>
  /** A pure function. Throws if the manifest does not allow the change. */
  readonly apply: (manifest: StoredManifest) => StoredManifest
  /** The description on the provider has the changed fields, so it is written too. */
  readonly updatesMetadata: boolean
}

/**
 * Changes one manifest: its description on the provider first, then its record. If the record cannot be written, the
 * description is restored. Throws `not-found`, `precondition-failed`, and the errors of the provider; then nothing has changed.
 */
export const changeManifest = (
  context: CatalogContext,
  call: ManifestCall,
  change: ManifestChange,
): Promise<ManifestRow> => {
  const { manifests, inventory, withLock, publish, clock } = context
  const found = findManifest(inventory, call.caller, call.reference)
  const applyChange = async (): Promise<ManifestRow> => {
    using timeLimit = createProviderTimeLimit()
    // Found by its id: a tag in the reference may name another manifest by now.
    const [before] = findManifests(inventory, call.caller, { catalogId: found.id })
    checkIfMatch([before], call.ifMatch)
    if (change.updatesMetadata) await refuseHiddenObjects(context, call.caller, before)
    await change.check?.(before, AbortSignal.any([timeLimit.signal, call.signal]))
    const updatedAt = change.updatesMetadata ? clock.next() : before.updated_at
    const apply = (manifest: StoredManifest): StoredManifest => ({
      ...change.apply(manifest),
      edition: manifest.edition + 1,
      updated_at: updatedAt,
    })
    const next = apply(before)
    const undo = change.updatesMetadata ? await updateMetadata(context, next, timeLimit.signal) : async () => {}
    try {
      const after = await manifests.update(before.id, apply, [publishManifestEvent(publish, change.event, next)])
      await inventory.refresh(before.id)
      return after
    } catch (error) {
      throw await undoAfterFailure(error, undo)
    }
  }
  return withLock(toLockKey(found), applyChange, call.signal)
}
