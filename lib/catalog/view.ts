import { createHash } from 'node:crypto'
import { maskStorage, type Storage } from '#lib/objects/port/connection.ts'
import type { ContentStore, ManifestContents } from './contents.ts'
import type { CatalogManifest, StoredManifest } from './manifest-schema.ts'

/** A stored manifest with the revision that the store gives it. */
export type ManifestRow = StoredManifest & { readonly rev: number }

/** The storage of a manifest, with its secrets; undefined for a manifest that was registered without. */
export const getStorage = ({ provider }: StoredManifest): Storage | undefined => provider

/** The view of a manifest without its contents. */
type ManifestViewFields = Omit<CatalogManifest, keyof ManifestContents>

const viewFields = new WeakMap<StoredManifest, ManifestViewFields>()

/** Converts a manifest to its view without the contents. Stored manifests are immutable, so the result is cached. */
export const toViewFields = (manifest: StoredManifest): ManifestViewFields => {
  const cached = viewFields.get(manifest)
  if (cached) return cached
  const {
    edition: _,
    rev: __,
    provider: ___,
    counted_jobs: ____,
    owner_id: _____,
    has_contents: ______,
    ...fields
  }: StoredManifest & { readonly rev?: number } = manifest
  const storage = getStorage(manifest)
  const view = {
    ...fields,
    pack_path: manifest.pack_filename,
    metadata_path: manifest.metadata_filename,
    provider: storage ? { ...maskStorage(storage) } : { type: '', meta: {} },
  }
  viewFields.set(manifest, view)
  return view
}

/** Converts a manifest to its view: what everybody who may see the manifest sees of it. */
export const toManifestView = async (contents: ContentStore, manifest: StoredManifest): Promise<CatalogManifest> => ({
  ...toViewFields(manifest),
  ...(await contents.read(manifest)),
})

const jsonPrefixes = new WeakMap<StoredManifest, string>()

/** Converts a manifest to its view as JSON. */
export const serializeManifest = async (contents: ContentStore, manifest: StoredManifest): Promise<string> => {
  // The object without its closing brace, so that the contents are appended as they are stored.
  const prefix = jsonPrefixes.get(manifest) ?? JSON.stringify(toViewFields(manifest)).slice(0, -1)
  jsonPrefixes.set(manifest, prefix)
  return `${prefix},${await contents.readJsonMembers(manifest)}}`
}

/** The ETag of a manifest. The revision comes last, because If-Match ignores it: it also changes with a counted download. */
export const formatETag = ({ id, edition, rev }: ManifestRow): string => `"${id}.${edition}.${rev}"`

/** A short digest of texts. */
export const digestTexts = (...texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\n')).digest('base64url').slice(0, 16)

/** The ETag of manifests that are in one reply. */
export const formatCommonETag = (manifests: readonly ManifestRow[]): string => {
  const [first, ...others] = manifests.map(formatETag)
  return first !== undefined && others.length === 0 ? first : `"${digestTexts(...manifests.map(formatETag))}"`
}
