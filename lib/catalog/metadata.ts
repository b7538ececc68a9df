import { isFault, ServiceError } from '#lib/errors.ts'
import type { ContentStore, ManifestContents } from './contents.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { toMetadataPath, requireStorage } from './manifest-objects.ts'
import { readBytes } from '#lib/async/read-bytes.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { getStorage } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'

/** The most bytes of a description, which lists every file of its machine. */
const maxBytes = 4 * 1024 * 1024

type Fields = Readonly<Record<string, unknown>>

/** Converts a manifest to its description on the provider (the wire's format). It never has the provider and its secrets. */
export const toMetadata = (
  manifest: StoredManifest,
  { pack_contents, virtual_machine_contents }: ManifestContents,
  before: Fields = {},
): object => ({
  ...before,
  id: manifest.id,
  catalog_id: manifest.catalog_id,
  name: manifest.name,
  description: manifest.description,
  version: manifest.version,
  architecture: manifest.architecture,
  type: manifest.type,
  provider: null,
  path: manifest.path,
  pack_path: manifest.pack_filename,
  metadata_path: manifest.metadata_filename,
  pack_relative_path: manifest.pack_relative_path,
  size: manifest.size,
  pack_size: manifest.pack_size,
  pack_sha256: manifest.pack_sha256,
  required_roles: manifest.required_roles,
  required_claims: manifest.required_claims,
  tags: manifest.tags,
  is_compressed: manifest.is_compressed,
  minimum_requirements: manifest.minimum_requirements,
  virtual_machine_contents,
  pack_contents,
  created_at: manifest.created_at,
  updated_at: manifest.updated_at,
})

/** A description that was read from the provider. */
export interface VersionedMetadata {
  readonly fields: Fields
  /** The version of the object, for a conditional write; undefined when the provider has no versions. */
  readonly version: string | undefined
}

/** Reads a description; undefined when there is none. Throws `upstream` for an object that is not a description. */
export const readMetadata = async (
  provider: Provider,
  path: string,
  signal?: AbortSignal,
): Promise<VersionedMetadata | undefined> => {
  // The version is taken before the content: if the object is replaced in between, the conditional write fails.
  const found = await provider.stat(path, signal)
  if (!found) return undefined
  const createError = (): ServiceError =>
    new ServiceError('upstream', `${path} on the provider does not describe a manifest.`)
  const bytes = await readBytes(await provider.read(path, { ...(signal && { signal }) }), maxBytes, createError)
  if (!isWithinJsonLimits(bytes)) throw createError()
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { fields: { ...value }, version: found.version }
  } catch {
    // The parser's message would quote the content.
  }
  throw createError()
}

/** Reads the MD5 of a pack (lower-case hex) from its description; undefined when the description has none. */
export const readPackMd5 = async (
  provider: Provider,
  path: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const md5 =
    path === undefined ? undefined : (await readMetadata(provider, path, signal))?.fields['compressed_checksum']
  return typeof md5 === 'string' && /^[0-9a-f]{32}$/i.test(md5) ? md5.toLowerCase() : undefined
}

/**
 * Writes a description. With `replaces` it replaces only that version; null stands for no object. Throws `conflict` when the
 * provider has another one.
 */
export const writeMetadata = async (
  provider: Provider,
  path: string,
  metadata: object,
  signal?: AbortSignal,
  replaces?: string | null,
): Promise<void> => {
  const source = toSource(Buffer.from(JSON.stringify(metadata, undefined, 2)))
  const options = { ...(signal && { signal }), ...(replaces !== undefined && { replaces }) }
  await provider.write(path, source, options).catch((error: unknown) => {
    if (!isFault(error, 'precondition-failed')) throw error
    throw new ServiceError('conflict', `Somebody else has changed ${path} on the provider meanwhile; try again.`, {
      cause: error,
    })
  })
}

/** The version that a write replaces: that of the description that was read, or null when there was none. */
export const toReplacedVersion = (before: VersionedMetadata | undefined): string | null | undefined =>
  before ? before.version : null

/**
 * Applies a change of a manifest to its description. A description with another pack was written by another host, which has
 * pushed a newer pack under the same name: then the facts about the pack stay.
 */
const mergeMetadata = (manifest: StoredManifest, contents: ManifestContents, before: Fields = {}): object => {
  const packName = before['pack_path']
  if (typeof packName !== 'string' || packName === '' || packName === manifest.pack_filename)
    return toMetadata(manifest, contents, before)
  const { description, required_roles, required_claims, tags, updated_at } = manifest
  return { ...before, description, required_roles, required_claims, tags, updated_at }
}

/**
 * Throws `conflict` when a description belongs to another manifest. The ids may differ: an import gives a manifest another id
 * if that of the description is in use, and another host may have pushed the manifest again. Then the names are equal.
 */
const checkDescribesManifest = (path: string, manifest: StoredManifest, { fields }: VersionedMetadata): void => {
  const matches = (...keys: readonly (keyof StoredManifest)[]): boolean =>
    keys.every(key => fields[key] === manifest[key])
  if (matches('id') || matches('catalog_id', 'version', 'architecture')) return
  throw new ServiceError(
    'conflict',
    `${path} on the provider does not describe ${manifest.name}, so it is not overwritten. Register the manifest with another metadata_filename.`,
  )
}

/** Writes that are tried while others keep changing the description. */
const maxTries = 5

/** Undoes a write. */
export type Undo = (signal: AbortSignal) => Promise<void>

/** Restores the earlier description, unless somebody else has written another one since. */
const restoreMetadata = async (
  provider: Provider,
  path: string,
  before: VersionedMetadata | undefined,
  written: string | undefined,
  signal: AbortSignal,
): Promise<void> => {
  if (!before) return provider.remove(path, signal)
  await writeMetadata(provider, path, before.fields, signal, written).catch((error: unknown) => {
    if (!isFault(error, 'conflict')) throw error
  })
}

/**
 * Writes the description of a changed manifest to its provider, if it has one. Gives a function that undoes the write. Throws
 * `conflict` when others keep changing the description, and when the object describes another manifest.
 */
export const updateMetadata = async (
  { storages, contents }: { readonly storages: Pick<Storages, 'open'>; readonly contents: Pick<ContentStore, 'read'> },
  manifest: StoredManifest,
  signal: AbortSignal,
): Promise<Undo> => {
  const path = toMetadataPath(manifest)
  if (path === undefined || !getStorage(manifest)) return async () => {}
  const provider = await storages.open(requireStorage(manifest))
  const files = await contents.read(manifest)
  for (let tries = 1; ; tries += 1) {
    const before = await readMetadata(provider, path, signal)
    if (before) checkDescribesManifest(path, manifest, before)
    try {
      await writeMetadata(
        provider,
        path,
        mergeMetadata(manifest, files, before?.fields),
        signal,
        toReplacedVersion(before),
      )
      const written = (await provider.stat(path, signal))?.version
      return undoSignal => restoreMetadata(provider, path, before, written, undoSignal)
    } catch (error) {
      if (!isFault(error, 'conflict') || tries === maxTries) throw error
    }
  }
}
