import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Inventory } from './inventory.ts'
import { newest } from './latest.ts'
import { architectureOf, normalCatalogId } from './identifiers.ts'
import type { Place } from './reference.ts'
import type { Kept } from './view.ts'
import { visibleTo } from './visibility.ts'

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** The manifests of a version; where no version has that name, those of the newest that has it as a tag. */
const ofVersion = (manifests: readonly Kept[], wanted: string, exact: boolean): readonly Kept[] => {
  const named = manifests.filter(({ version }) => same(version, wanted))
  if (named.length > 0 || exact) return named
  const tagged = newest(manifests.filter(({ tags }) => tags.some(tag => same(tag, wanted))))
  return tagged ? manifests.filter(({ version }) => version === tagged.version) : []
}

/**
 * The manifests of a place that a caller may know of. A catalog id may also be the id or the name of one manifest.
 * @param exact no tags: what deletes names the version that it means
 * Throws `not-found` when there are none.
 */
export const findManifests = (
  inventory: Inventory,
  caller: Principal,
  { catalogId, version, architecture }: Place,
  exact = false,
): readonly Kept[] => {
  const wanted = normalCatalogId(catalogId)
  const ofId = inventory.of(wanted)
  const single =
    inventory.get(wanted) ?? (ofId.length > 0 ? undefined : inventory.all().find(({ name }) => name === wanted))
  const visible = (single ? [single] : ofId).filter(visibleTo(caller))
  const machine = architecture === undefined ? undefined : (architectureOf(architecture) ?? architecture)
  const ofMachine = visible.filter(one => machine === undefined || one.architecture === machine)
  const found = version === undefined ? ofMachine : ofVersion(ofMachine, version, exact)
  if (found.length > 0) return found
  throw new ServiceError(
    'not-found',
    `There is no manifest ${[catalogId, version, architecture].filter(part => part !== undefined).join(' ')} in the catalog.`,
  )
}

/** The one manifest of a place down to the architecture. Throws `not-found`. */
export const findManifest = (inventory: Inventory, caller: Principal, place: Required<Place>): Kept =>
  findManifests(inventory, caller, place)[0]!
