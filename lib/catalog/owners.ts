import { join } from 'node:path'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { CatalogContext } from './changes.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import { objectsOf } from './manifest-objects.ts'
import { type Kept, storageOf } from './view.ts'
import { visibleTo } from './visibility.ts'

type Context = Pick<CatalogContext, 'inventory' | 'storages'>

/** Whether a chunk is at a place, or the folders of chunks are: all manifests may share these, and none owns them. */
const isOfChunks = (place: string): boolean => /\/chunks(\/[0-9a-f]{2}(\/[0-9a-f]{64})?)?$/.test(place)

/**
 * Says of an object of a storage whether it is one of these manifests', or in the folder of one, or around it; or a chunk,
 * which is never of one manifest alone.
 */
const ownedBy = async (
  { storages }: Context,
  manifests: readonly Kept[],
  storage: Storage,
): Promise<(path: string) => Promise<boolean>> => {
  const places = new Map<string, Promise<string>>()
  const owned = new Set<string>()
  const around = new Set<string>()
  for (const manifest of manifests) {
    const theirs = storageOf(manifest)
    if (!theirs) continue
    const key = JSON.stringify(theirs)
    const place = places.get(key) ?? storages.getStorageKey(theirs)
    places.set(key, place)
    for (const path of objectsOf(manifest)) {
      const object = join(await place, path)
      owned.add(object)
      for (let end = object.lastIndexOf('/'); end > 0; end = object.lastIndexOf('/', end - 1)) {
        const folder = object.slice(0, end)
        if (around.has(folder)) break
        around.add(folder)
      }
    }
  }
  const isOwned = (object: string): boolean => {
    for (let end = object.length; end > 0; end = object.lastIndexOf('/', end - 1))
      if (owned.has(object.slice(0, end))) return true
    return around.has(object)
  }
  return async path =>
    (await storages.getObjectLocations(storage, path)).some(place => isOfChunks(place) || isOwned(place))
}

/** Says of an object whether it is of a manifest that the caller may not know of, or a chunk. */
export const hiddenFrom = (context: Context, caller: Principal, storage: Storage) => {
  const sees = visibleTo(caller)
  const hidden = context.inventory.all().filter(manifest => !sees(manifest))
  return ownedBy(context, hidden, storage)
}

/** Says of an object of a manifest's storage whether it is another manifest's as well, whoever may know of that. */
export const ownedByOthers = (context: Context, manifest: Pick<Kept, 'id'>, storage: Storage) =>
  ownedBy(
    context,
    context.inventory.all().filter(({ id }) => id !== manifest.id),
    storage,
  )

/** What a push puts behind the name of a manifest: of a pack that replaced another, of its kinds, of its side file. */
const ends = /^(~[0-9a-f]{8})?\.(pdpack|chunks\.json|meta)(\.pack\.json)?$/

/** Whether an object bears the manifest's own name in its own folder: only a push of this manifest gives it that. */
const bearsNameOf = ({ catalog_id, name }: Pick<Kept, 'catalog_id' | 'name'>, path: string): boolean =>
  path.startsWith(`${catalog_id}/${name}`) && ends.test(path.slice(`${catalog_id}/${name}`.length))

/**
 * Throws `forbidden` when one of these objects is of a manifest that the caller may not know of, or a chunk. Those that bear
 * the name of the manifest `own` are its own, whoever else leads to them.
 */
export const refuseHidden = async (
  context: Context,
  caller: Principal,
  storage: Storage,
  paths: readonly string[],
  own?: Pick<Kept, 'catalog_id' | 'name'>,
): Promise<void> => {
  const asked = own ? paths.filter(path => !bearsNameOf(own, path)) : paths
  if (asked.length === 0) return
  const isHidden = await hiddenFrom(context, caller, storage)
  for (const path of asked)
    if (await isHidden(path))
      throw new ServiceError('forbidden', `${path} on the provider is not yours to put into a manifest or to read.`)
}

/**
 * The same for what a manifest leads to, each time that it is used: a manifest that was hidden later, or pushed later, may
 * have objects that another one named before. Nothing is asked of a manifest without a storage.
 */
export const refuseHiddenObjects = async (context: Context, caller: Principal, manifest: Kept): Promise<void> => {
  const storage = storageOf(manifest)
  if (storage && !caller.superUser) await refuseHidden(context, caller, storage, objectsOf(manifest), manifest)
}
