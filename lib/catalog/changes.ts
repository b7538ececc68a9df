import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Tell } from '#lib/events/events.ts'
import type { Collection, Write } from '#lib/storage/store.ts'
import type { OwnHolds } from './chunks/own-holds.ts'
import { nextTime } from './clock.ts'
import { findManifest, findManifests } from './find.ts'
import type { Inventory } from './inventory.ts'
import type { StoredManifest } from './manifest.ts'
import { describeOnProvider } from './metadata.ts'
import { manifestName } from './names.ts'
import type { Place } from './place.ts'
import { foundTag, type Kept } from './shown.ts'
import type { Storages } from './storages.ts'
import type { Turns } from './turns.ts'

/** What changes of the catalog share. */
export interface CatalogContext {
  readonly manifests: Collection<StoredManifest>
  readonly inventory: Inventory
  readonly storages: Storages
  readonly ownHolds: OwnHolds
  /**
   * By `turnOf` a manifest for what its provider is asked for, which may take its time; within that by catalog id, whose
   * versions decide together which is the latest.
   */
  readonly turns: Turns
  readonly commit: (writes: readonly Write[]) => Promise<void>
  readonly tell: Tell
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
}

/** Whoever could see the manifest is told: a claim of its own is asked of them, and of roles an event knows nothing. */
export const manifestEvent = (
  tell: Tell,
  what: string,
  { id, catalog_id, version, architecture, required_claims, required_roles }: StoredManifest,
): Write =>
  tell({
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
  readonly check?: (manifest: Kept) => Promise<void>
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
  const { manifests, inventory, storages, turns, tell } = context
  const found = findManifest(inventory, call.caller, call.place)
  return turns(turnOf(found), async () => {
    // By its id: a tag may lead to another one by now.
    const before = findManifests(inventory, call.caller, { catalogId: found.id })[0]!
    checkMatch([before], call.ifMatch)
    await change.check?.(before)
    const now = change.described ? nextTime() : before.updated_at
    const apply = (manifest: StoredManifest): StoredManifest => ({
      ...change.apply(manifest),
      edition: manifest.edition + 1,
      updated_at: now,
    })
    const next = apply(before)
    const undo = change.described ? await describeOnProvider(storages, next) : async () => {}
    try {
      const after = await manifests.update(before.id, apply, [manifestEvent(tell, change.event, next)])
      await inventory.refresh(before.id)
      return after
    } catch (error) {
      await undo()
      throw error
    }
  })
}
