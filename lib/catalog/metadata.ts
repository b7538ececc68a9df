import { isFault, ServiceError } from '#lib/errors.ts'
import type { Contents, ManifestContents } from './contents.ts'
import { isModest } from '#lib/json-limits.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { metadataPath, requireStorage } from './manifest-objects.ts'
import { readBytes, sourceFromBytes } from '#lib/objects/port/bytes.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { storageOf } from './view.ts'
import type { Storages } from '#lib/objects/storages.ts'

/** Bytes of a description: it names every file of its machine. */
const most = 4 * 1024 * 1024

type Fields = Readonly<Record<string, unknown>>

/** What describes a manifest on its provider: the wire's own form. The provider itself is never in it. */
export const metadataOf = (
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

/** A description as it is on the provider now. */
export interface Described {
  readonly fields: Fields
  /** For the write that replaces it; undefined where the provider knows no versions. */
  readonly version: string | undefined
}

/** Reads a description; undefined when there is none. Throws `upstream` for what is none. */
export const readMetadata = async (
  provider: Provider,
  path: string,
  signal?: AbortSignal,
): Promise<Described | undefined> => {
  // Before it is read: what is written meanwhile has another version, and a write over that is refused.
  const there = await provider.stat(path, signal)
  if (!there) return undefined
  const bad = (): ServiceError => new ServiceError('upstream', `${path} on the provider does not describe a manifest.`)
  const bytes = await readBytes(await provider.read(path, { ...(signal && { signal }) }), most, bad)
  if (!isModest(bytes)) throw bad()
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { fields: { ...value }, version: there.version }
  } catch {
    // The parser's words quote what it has read.
  }
  throw bad()
}

/** The MD5 of a pack (lower-case hex) that its description keeps, in the wire's own form; undefined where it keeps none. */
export const packMd5 = async (
  provider: Provider,
  path: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const md5 =
    path === undefined ? undefined : (await readMetadata(provider, path, signal))?.fields['compressed_checksum']
  return typeof md5 === 'string' && /^[0-9a-f]{32}$/i.test(md5) ? md5.toLowerCase() : undefined
}

/** Writes a description; with `replaces` only over that version. Throws `conflict` where there is another by now. */
export const writeMetadata = async (
  provider: Provider,
  path: string,
  metadata: object,
  signal?: AbortSignal,
  replaces?: string | null,
): Promise<void> => {
  const source = sourceFromBytes(Buffer.from(JSON.stringify(metadata, undefined, 2)))
  const options = { ...(signal && { signal }), ...(replaces !== undefined && { replaces }) }
  await provider.write(path, source, options).catch((error: unknown) => {
    if (!isFault(error, 'precondition-failed')) throw error
    throw new ServiceError('conflict', `Others have changed ${path} on the provider meanwhile; try again.`, {
      cause: error,
    })
  })
}

/** The version for a write that replaces what was read. */
export const versionOf = (before: Described | undefined): string | null | undefined => (before ? before.version : null)

/**
 * What a change of a manifest makes of its description. One that leads to another pack is that of another host, which has
 * pushed a newer one to the same place: what it says of its pack stays.
 */
const describedAnew = (manifest: StoredManifest, contents: ManifestContents, before: Fields = {}): object => {
  const pack = before['pack_path']
  if (typeof pack !== 'string' || pack === '' || pack === manifest.pack_filename)
    return metadataOf(manifest, contents, before)
  const { description, required_roles, required_claims, tags, updated_at } = manifest
  return { ...before, description, required_roles, required_claims, tags, updated_at }
}

/**
 * Refuses to write over what is no description of this manifest. An import gives a manifest another id than its description
 * has where that is taken, and another host may have pushed it again: then its name is the same.
 */
const refuseOther = (path: string, manifest: StoredManifest, { fields }: Described): void => {
  const isOf = (...keys: readonly (keyof StoredManifest)[]): boolean => keys.every(key => fields[key] === manifest[key])
  if (isOf('id') || isOf('catalog_id', 'version', 'architecture')) return
  throw new ServiceError(
    'conflict',
    `${path} on the provider does not describe ${manifest.name}, so it is not written over. Register the manifest with another metadata_filename.`,
  )
}

/** How often a description may be changed by others while it is changed here. */
const mostTries = 5

/** Takes back what was written. */
export type Undo = (signal: AbortSignal) => Promise<void>

/** Puts back what a description said before, unless somebody has written another one since. */
const restoreMetadata = async (
  provider: Provider,
  path: string,
  before: Described | undefined,
  written: string | undefined,
  signal: AbortSignal,
): Promise<void> => {
  if (!before) return provider.remove(path, signal)
  await writeMetadata(provider, path, before.fields, signal, written).catch((error: unknown) => {
    if (!isFault(error, 'conflict')) throw error
  })
}

/**
 * Makes the description on the provider say what the manifest is going to say. Gives what takes that back. A manifest
 * without a provider has none. Throws `conflict` where others go on changing it, and where
 * something else lies in its place.
 */
export const describeOnProvider = async (
  { storages, contents }: { readonly storages: Pick<Storages, 'open'>; readonly contents: Pick<Contents, 'of'> },
  manifest: StoredManifest,
  signal: AbortSignal,
): Promise<Undo> => {
  const path = metadataPath(manifest)
  if (path === undefined || !storageOf(manifest)) return async () => {}
  const provider = await storages.open(requireStorage(manifest))
  const files = await contents.of(manifest)
  for (let tries = 1; ; tries += 1) {
    const before = await readMetadata(provider, path, signal)
    if (before) refuseOther(path, manifest, before)
    try {
      await writeMetadata(provider, path, describedAnew(manifest, files, before?.fields), signal, versionOf(before))
      const written = (await provider.stat(path, signal))?.version
      return undoing => restoreMetadata(provider, path, before, written, undoing)
    } catch (error) {
      if (!isFault(error, 'conflict') || tries === mostTries) throw error
    }
  }
}
