import { maskStorage, type Storage } from './connection.ts'
import type { CatalogManifest, StoredManifest } from './manifest.ts'

/** A stored manifest with the revision that the store gives it. */
export type Kept = StoredManifest & { readonly rev: number }

/** The storage of a manifest, with what opens it. */
export const storageOf = ({ provider }: StoredManifest): Storage | undefined => provider as Storage | undefined

const made = new WeakMap<StoredManifest, CatalogManifest>()

/** A manifest as everybody who may know of it sees it. Stored manifests never change, so each is made once. */
export const shownManifest = (manifest: StoredManifest): CatalogManifest => {
  const known = made.get(manifest)
  if (known) return known
  const { edition: _, rev: __, provider: ___, counted_jobs: ____, ...fields } = manifest as Kept
  const storage = storageOf(manifest)
  const shown = {
    ...fields,
    pack_path: manifest.pack_filename,
    metadata_path: manifest.metadata_filename,
    provider: storage ? { ...maskStorage(storage) } : { type: '', meta: {} },
  }
  made.set(manifest, shown)
  return shown
}

const encoded = new WeakMap<StoredManifest, string>()

/** The same as JSON. */
export const manifestJson = (manifest: StoredManifest): string => {
  const known = encoded.get(manifest)
  if (known !== undefined) return known
  const json = JSON.stringify(shownManifest(manifest))
  encoded.set(manifest, json)
  return json
}

/** The tag of a manifest as it is: what it says that a download changes comes last. */
export const manifestTag = ({ id, edition, rev }: Kept): string => `"${id}.${edition}.${rev}"`
