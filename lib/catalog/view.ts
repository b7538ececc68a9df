import { createHash } from 'node:crypto'
import { maskStorage, type Storage } from '#lib/objects/port/connection.ts'
import type { Contents, ManifestContents } from './contents.ts'
import type { CatalogManifest, StoredManifest } from './manifest-schema.ts'

/** A stored manifest with the revision that the store gives it. */
export type Kept = StoredManifest & { readonly rev: number }

/** The storage of a manifest, with what opens it. */
export const storageOf = ({ provider }: StoredManifest): Storage | undefined => provider as Storage | undefined

/** What is shown of a manifest but its contents. */
type ShownFields = Omit<CatalogManifest, keyof ManifestContents>

const made = new WeakMap<StoredManifest, ShownFields>()

/** A manifest as everybody who may know of it sees it, but its contents. Stored manifests never change, so each is made once. */
export const shownFields = (manifest: StoredManifest): ShownFields => {
  const known = made.get(manifest)
  if (known) return known
  const {
    edition: _,
    rev: __,
    provider: ___,
    counted_jobs: ____,
    owner_id: _____,
    has_contents: ______,
    ...fields
  } = manifest as Kept
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

/** A manifest as everybody who may know of it sees it. */
export const showManifest = async (contents: Contents, manifest: StoredManifest): Promise<CatalogManifest> => ({
  ...shownFields(manifest),
  ...(await contents.of(manifest)),
})

const encoded = new WeakMap<StoredManifest, string>()

/** The same as JSON. */
export const manifestJson = async (contents: Contents, manifest: StoredManifest): Promise<string> => {
  // All of the object but its end.
  const begun = encoded.get(manifest) ?? JSON.stringify(shownFields(manifest)).slice(0, -1)
  encoded.set(manifest, begun)
  return `${begun},${await contents.membersOf(manifest)}}`
}

/** The tag of a manifest as it is: what it says that a download changes comes last. */
export const manifestTag = ({ id, edition, rev }: Kept): string => `"${id}.${edition}.${rev}"`

/** A short text that stands for others. */
export const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 16)

/** The tag of manifests that are shown together. */
export const foundTag = (manifests: readonly Kept[]): string =>
  manifests.length === 1 ? manifestTag(manifests[0]!) : `"${digest(...manifests.map(manifestTag))}"`
