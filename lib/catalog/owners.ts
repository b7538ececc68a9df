import { join } from 'node:path'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { CatalogContext } from './changes.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import { listObjectPaths } from './manifest-objects.ts'
import { getStorage, type ManifestRow } from './view.ts'
import { createVisibilityCheck } from './visibility.ts'

type OwnerContext = Pick<CatalogContext, 'inventory' | 'storages'>

/** Answers a question about the object at a path. */
type ObjectCheck = (path: string) => Promise<boolean>

/** Whether a location is that of a chunk or of a folder of chunks. All manifests share chunks, and none owns them. */
const isChunkLocation = (location: string): boolean => /\/chunks(\/[0-9a-f]{2}(\/[0-9a-f]{64})?)?$/.test(location)

/**
 * Makes the check whether an object of a storage belongs to one of these manifests: it is one of their objects, or inside or
 * around one. The check is also true for a chunk, which never belongs to one manifest alone.
 */
const createOwnerCheck = async (
  { storages }: OwnerContext,
  manifests: readonly ManifestRow[],
  storage: Storage,
): Promise<ObjectCheck> => {
  const storageKeys = new Map<string, Promise<string>>()
  const owned = new Set<string>()
  /** The folders that have an owned object. */
  const parents = new Set<string>()
  for (const manifest of manifests) {
    const ownerStorage = getStorage(manifest)
    if (!ownerStorage) continue
    const cacheKey = JSON.stringify(ownerStorage)
    const storageKey = storageKeys.get(cacheKey) ?? storages.getStorageKey(ownerStorage)
    storageKeys.set(cacheKey, storageKey)
    for (const path of listObjectPaths(manifest)) {
      const location = join(await storageKey, path)
      owned.add(location)
      for (let end = location.lastIndexOf('/'); end > 0; end = location.lastIndexOf('/', end - 1)) {
        const folder = location.slice(0, end)
        if (parents.has(folder)) break
        parents.add(folder)
      }
    }
  }
  const isOwned = (location: string): boolean => {
    for (let end = location.length; end > 0; end = location.lastIndexOf('/', end - 1))
      if (owned.has(location.slice(0, end))) return true
    return parents.has(location)
  }
  return async path => {
    const locations = await storages.getObjectLocations(storage, path)
    return locations.some(location => isChunkLocation(location) || isOwned(location))
  }
}

/** Makes the check whether an object is a chunk, or belongs to a manifest that the caller may not see. */
export const createHiddenCheck = (context: OwnerContext, caller: Principal, storage: Storage): Promise<ObjectCheck> => {
  const canSee = createVisibilityCheck(caller)
  const hidden = context.inventory.list().filter(manifest => !canSee(manifest))
  return createOwnerCheck(context, hidden, storage)
}

/**
 * Lists the objects in a storage whose paths begin with `prefix` and that belong to manifests that the caller may not see. For a
 * host that writes there and cannot ask this catalog.
 */
export const listHiddenPaths = async (
  { inventory, storages }: OwnerContext,
  caller: Principal,
  storage: Storage,
  prefix: string,
): Promise<readonly string[]> => {
  const canSee = createVisibilityCheck(caller)
  const start = join(await storages.getStorageKey(storage), prefix)
  const found = new Set<string>()
  for (const manifest of inventory.list()) {
    const ownerStorage = getStorage(manifest)
    if (canSee(manifest) || ownerStorage?.type !== storage.type) continue
    const ownerKey = await storages.getStorageKey(ownerStorage)
    for (const path of listObjectPaths(manifest)) {
      const location = join(ownerKey, path)
      if (location.startsWith(start)) found.add(prefix + location.slice(start.length))
    }
  }
  return [...found].toSorted()
}

/** Makes the check whether an object is a chunk, or belongs to another manifest too, whoever may see that. */
export const createOtherOwnersCheck = (
  context: OwnerContext,
  manifest: Pick<ManifestRow, 'id'>,
  storage: Storage,
): Promise<ObjectCheck> => {
  const others = context.inventory.list().filter(({ id }) => id !== manifest.id)
  return createOwnerCheck(context, others, storage)
}

/** What follows a manifest's name in the names of its objects: a suffix if the pack replaced another, a type, the sidecar. */
const objectSuffix = /^(~[0-9a-f]{8})?\.(pdpack|chunks\.json|meta)(\.pack\.json)?$/

/** Whether an object has the manifest's name and folder. Only a push of this manifest writes such an object. */
const isNamedAfter = ({ catalog_id, name }: Pick<ManifestRow, 'catalog_id' | 'name'>, path: string): boolean => {
  const prefix = `${catalog_id}/${name}`
  return path.startsWith(prefix) && objectSuffix.test(path.slice(prefix.length))
}

/**
 * Throws `forbidden` when one of these objects is a chunk, or belongs to a manifest that the caller may not see. Objects with
 * the name of the manifest `own` belong to it, even if another manifest refers to them.
 */
export const refuseHidden = async (
  context: OwnerContext,
  caller: Principal,
  storage: Storage,
  paths: readonly string[],
  own?: Pick<ManifestRow, 'catalog_id' | 'name'>,
): Promise<void> => {
  const checkedPaths = own ? paths.filter(path => !isNamedAfter(own, path)) : paths
  if (checkedPaths.length === 0) return
  const isHidden = await createHiddenCheck(context, caller, storage)
  for (const path of checkedPaths)
    if (await isHidden(path))
      throw new ServiceError('forbidden', `${path} on the provider is not yours to put into a manifest or to read.`)
}

/**
 * Applies `refuseHidden` to the objects of a manifest. This runs at every use of the manifest, because another manifest that
 * names the same objects may have been hidden or pushed since. A manifest without a storage passes.
 */
export const refuseHiddenObjects = async (
  context: OwnerContext,
  caller: Principal,
  manifest: ManifestRow,
): Promise<void> => {
  const storage = getStorage(manifest)
  if (storage && !caller.superUser) await refuseHidden(context, caller, storage, listObjectPaths(manifest), manifest)
}
