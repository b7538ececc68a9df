import { ServiceError } from '#lib/errors.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { storageOf } from './view.ts'

type Owner = Pick<StoredManifest, 'path' | 'pack_filename' | 'metadata_filename'>

/** What ends the name of the side file, which keeps what the wire's own metadata has no place for. */
export const sideEnd = '.pack.json'

const inFolder = ({ path }: Owner, file: string): string =>
  [...path.split('/').filter(part => part !== ''), file].join('/')

/** The object of a manifest's pack; undefined where none is known. */
export const packPath = (manifest: Owner): string | undefined =>
  manifest.pack_filename === '' ? undefined : inFolder(manifest, manifest.pack_filename)

/** The object that describes a manifest on its provider (`.meta` of the wire). */
export const metadataPath = (manifest: Owner): string | undefined =>
  manifest.metadata_filename === '' ? undefined : inFolder(manifest, manifest.metadata_filename)

/** The object beside a pack with the digests of its pieces. */
export const sidePath = (manifest: Owner): string | undefined =>
  manifest.pack_filename === '' ? undefined : inFolder(manifest, manifest.pack_filename + sideEnd)

/** The storage of a manifest. Throws `conflict` for one that was registered without. */
export const requireStorage = (manifest: StoredManifest) => {
  const storage = storageOf(manifest)
  if (!storage)
    throw new ServiceError(
      'conflict',
      `The manifest ${manifest.name} has no provider; give it one with PATCH …/connection.`,
    )
  return storage
}

/**
 * The objects of a manifest. What others find the pack by comes first: a deletion that is cut off leaves no description of
 * a pack that is gone. What says whose the pack is comes last, so that the deletion can come again.
 */
export const objectsOf = (manifest: Owner): readonly string[] =>
  [metadataPath(manifest), packPath(manifest), sidePath(manifest)].filter(path => path !== undefined)
