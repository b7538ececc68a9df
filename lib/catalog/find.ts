import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { normalizeCatalogId, parseArchitecture } from './identifiers.ts'
import type { Inventory } from './inventory.ts'
import { findNewest } from './latest.ts'
import type { CatalogReference, ManifestReference } from './reference.ts'
import type { ManifestRow } from './view.ts'
import { createVisibilityCheck } from './visibility.ts'

const equalsIgnoringCase = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Selects the manifests of a version. If there is no such version, the name is a tag of the newest version that has it. */
const selectVersion = (
  manifests: readonly ManifestRow[],
  wanted: string,
  ignoreTags: boolean,
): readonly ManifestRow[] => {
  const named = manifests.filter(({ version }) => equalsIgnoringCase(version, wanted))
  if (named.length > 0 || ignoreTags) return named
  const tagged = findNewest(manifests.filter(({ tags }) => tags.some(tag => equalsIgnoringCase(tag, wanted))))
  return tagged ? manifests.filter(({ version }) => version === tagged.version) : []
}

/**
 * Finds the manifests of a reference that the caller may see. The catalog id may also be the id or the name of one manifest.
 * With `ignoreTags` the version is never a tag: a deletion has to name the version. Throws `not-found` when there are none.
 */
export const findManifests = (
  inventory: Inventory,
  caller: Principal,
  { catalogId, version, architecture: architectureName }: CatalogReference,
  ignoreTags = false,
): readonly [ManifestRow, ...ManifestRow[]] => {
  const wanted = normalizeCatalogId(catalogId)
  const versions = inventory.listVersions(wanted)
  const single =
    inventory.get(wanted) ?? (versions.length > 0 ? undefined : inventory.list().find(({ name }) => name === wanted))
  const visible = (single ? [single] : versions).filter(createVisibilityCheck(caller))
  const architecture = architectureName && (parseArchitecture(architectureName) ?? architectureName)
  const candidates = visible.filter(manifest => architecture === undefined || manifest.architecture === architecture)
  const [first, ...others] = version === undefined ? candidates : selectVersion(candidates, version, ignoreTags)
  if (first) return [first, ...others]
  const reference = [catalogId, version, architectureName].filter(part => part !== undefined).join(' ')
  throw new ServiceError('not-found', `There is no manifest ${reference} in the catalog.`)
}

/** Finds the manifest of a complete reference. Throws `not-found`. */
export const findManifest = (inventory: Inventory, caller: Principal, reference: ManifestReference): ManifestRow => {
  const [manifest] = findManifests(inventory, caller, reference)
  return manifest
}
