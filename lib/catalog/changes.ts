import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Collection, Write } from '#lib/storage/store.ts'
import type { IndexParser } from '#lib/packs/chunks/index-parser.ts'
import type { OwnLocks } from '#lib/packs/chunk-store/own-locks.ts'
import type { Clock } from './timestamps.ts'
import type { Contents } from './contents.ts'
import { findManifest, findManifests } from './find.ts'
import type { Inventory } from './inventory.ts'
import { refuseHiddenObjects } from './owners.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { describeOnProvider } from './metadata.ts'
import { manifestName } from './identifiers.ts'
import type { Place } from './reference.ts'
import { limitProvider } from './provider-limit.ts'
import { foundTag, type Kept } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'
import type { KeyedMutex } from '#lib/async/keyed-mutex.ts'
import { undoAfter } from './undo.ts'

/** What changes of the catalog share. */
export interface CatalogContext {
  readonly manifests: Collection<StoredManifest>
  readonly inventory: Inventory
  readonly contents: Contents
  readonly storages: Storages
  readonly ownHolds: OwnLocks
  readonly indexParser: IndexParser
  /** The times of manifests. */
  readonly clock: Clock
  /** How many manifests one user may have registered. */
  readonly manifestsPerUser: number
  /**
   * By `turnOf` a manifest for what its provider is asked for, which may take its time; within that by catalog id, whose
   * versions decide together which is the latest.
   */
  readonly turns: KeyedMutex
  readonly commit: (writes: readonly Write[]) => Promise<void>
  readonly publish: Publish
}

/** The key of a manifest's turns. */
export const turnOf = ({
  catalog_id,
  architecture,
  version,
}: Pick<StoredManifest, 'catalog_id' | 'architecture' | 'version'>) =>
  `manifest ${manifestName(catalog_id, architecture, version)}`

/** Who asks for a change of one manifest. */
export interface ManifestCall {
  readonly caller: Principal
  readonly place: Required<Place>
  /** Tags of which the manifest must have one; any when undefined. */
  readonly ifMatch: readonly string[] | undefined
  /** Of who waits for it. */
  readonly signal: AbortSignal
}

/** Whoever could see the manifest is told: a claim of its own is asked of them, and of roles an event knows nothing. */
export const manifestEvent = (
  publish: Publish,
  what: string,
  { id, catalog_id, version, architecture, required_claims, required_roles }: StoredManifest,
): Write =>
  publish({
    type: 'system',
    message: `CATALOG_MANIFEST_${what}`,
    body: { id, catalog_id, version, architecture },
    audience: {
      claims: required_roles.length > 0 ? [] : required_claims.length > 0 ? required_claims : ['LIST_CATALOG_MANIFEST'],
    },
  })

/** What of a tag a download leaves as it is. */
const editionOf = (tag: string): string => tag.replace(/\.\d+"$/, '')

/** Throws `precondition-failed` when manifests that were shown together have none of these tags any more. */
export const checkMatch = (manifests: readonly Kept[], ifMatch: readonly string[] | undefined): void => {
  const [first, ...others] = manifests
  if (ifMatch && first && !ifMatch.map(editionOf).includes(editionOf(foundTag(manifests))))
    throw new ServiceError(
      'precondition-failed',
      others.length === 0
        ? `The manifest ${first.name} was changed since it was read. Look at it, then try again.`
        : `The manifests of ${first.catalog_id} were changed since they were read. Look at them, then try again.`,
    )
}

interface Change {
  readonly event: string
  /** Throws where the change is not possible, which takes its time to find out. */
  readonly check?: (manifest: Kept, signal: AbortSignal) => Promise<void>
  /** Pure; throws where the change is not possible. */
  readonly apply: (manifest: StoredManifest) => StoredManifest
  /** Whether the description on the provider tells of it. */
  readonly described: boolean
}

/**
 * Changes one manifest: on the provider first, then on record, and back there when that fails. Throws `not-found`,
 * `precondition-failed`, and what the provider refuses with; then nothing has changed.
 */
export const changeManifest = (context: CatalogContext, call: ManifestCall, change: Change): Promise<Kept> => {
  const { manifests, inventory, turns, publish, clock } = context
  const found = findManifest(inventory, call.caller, call.place)
  const changed = async (): Promise<Kept> => {
    using limited = limitProvider()
    // By its id: a tag may lead to another one by now.
    const before = findManifests(inventory, call.caller, { catalogId: found.id })[0]!
    checkMatch([before], call.ifMatch)
    if (change.described) await refuseHiddenObjects(context, call.caller, before)
    await change.check?.(before, AbortSignal.any([limited.signal, call.signal]))
    const now = change.described ? clock.next() : before.updated_at
    const apply = (manifest: StoredManifest): StoredManifest => ({
      ...change.apply(manifest),
      edition: manifest.edition + 1,
      updated_at: now,
    })
    const next = apply(before)
    const undo = change.described ? await describeOnProvider(context, next, limited.signal) : async () => {}
    try {
      const after = await manifests.update(before.id, apply, [manifestEvent(publish, change.event, next)])
      await inventory.refresh(before.id)
      return after
    } catch (error) {
      throw await undoAfter(error, undo)
    }
  }
  return turns(turnOf(found), changed, call.signal)
}
