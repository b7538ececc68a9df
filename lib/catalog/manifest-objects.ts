import { ServiceError } from '#lib/errors.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { getStorage } from './view.ts'

/** The fields of a manifest that name its objects. */
type ObjectOwner = Pick<StoredManifest, 'path' | 'pack_filename' | 'metadata_filename'>

/** The end of the name of a sidecar, which has the facts that the wire's own description has no fields for. */
export const sidecarSuffix = '.pack.json'

const joinFolder = ({ path }: ObjectOwner, file: string): string =>
  [...path.split('/').filter(part => part !== ''), file].join('/')

/** The path of a manifest's pack; undefined for one without. */
export const toPackPath = (manifest: ObjectOwner): string | undefined =>
  manifest.pack_filename === '' ? undefined : joinFolder(manifest, manifest.pack_filename)

/** The path of the object that describes a manifest on its provider (`.meta` of the wire); undefined for one without. */
export const toMetadataPath = (manifest: ObjectOwner): string | undefined =>
  manifest.metadata_filename === '' ? undefined : joinFolder(manifest, manifest.metadata_filename)

/** The path of the sidecar of a manifest's pack; undefined for one without a pack. */
export const toSidecarPath = (manifest: ObjectOwner): string | undefined =>
  manifest.pack_filename === '' ? undefined : joinFolder(manifest, manifest.pack_filename + sidecarSuffix)

/** The storage of a manifest. Throws `conflict` for one that was registered without. */
export const requireStorage = (manifest: StoredManifest): Storage => {
  const storage = getStorage(manifest)
  if (!storage)
    throw new ServiceError(
      'conflict',
      `The manifest ${manifest.name} has no provider; give it one with PATCH …/connection.`,
    )
  return storage
}

/**
 * The paths of a manifest's objects, in the order of their deletion. The description comes first, so that an interrupted
 * deletion leaves no description of a missing pack. The sidecar says who wrote the pack: it comes last, so that the deletion
 * can be repeated.
 */
export const listObjectPaths = (manifest: ObjectOwner): readonly string[] =>
  [toMetadataPath(manifest), toPackPath(manifest), toSidecarPath(manifest)].filter(path => path !== undefined)
