import { join } from 'node:path'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { CatalogContext } from './changes.ts'
import type { Storage } from './connection.ts'
import { objectsOf } from './objects.ts'
import { type Kept, storageOf } from './shown.ts'
import { visibleTo } from './visible.ts'

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
    const place = places.get(key) ?? storages.placeOf(theirs)
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
  return async path => (await storages.placesOf(storage, path)).some(place => isOfChunks(place) || isOwned(place))
}

/** Says of an object of a manifest's storage whether it is another manifest's as well, whoever may know of that. */
export const ownedByOthers = (context: Context, manifest: Pick<Kept, 'id'>, storage: Storage) =>
  ownedBy(
    context,
    context.inventory.all().filter(({ id }) => id !== manifest.id),
    storage,
  )

/** Throws `forbidden` when one of these objects is of a manifest that the caller may not know of, or a chunk. */
export const refuseHidden = async (
  context: Context,
  caller: Principal,
  storage: Storage,
  paths: readonly string[],
): Promise<void> => {
  const sees = visibleTo(caller)
  const hidden = context.inventory.all().filter(manifest => !sees(manifest))
  const isHidden = await ownedBy(context, hidden, storage)
  for (const path of paths)
    if (await isHidden(path))
      throw new ServiceError('forbidden', `${path} on the provider is not yours to put into a manifest or to read.`)
}
