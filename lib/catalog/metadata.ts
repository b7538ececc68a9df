import { ServiceError } from '#lib/errors.ts'
import { isModest } from './modest-json.ts'
import type { StoredManifest } from './manifest.ts'
import { metadataPath, requireStorage } from './objects.ts'
import { bytesOf, sourceOfBytes } from './providers/bytes.ts'
import type { Provider } from './providers/provider.ts'
import { storageOf } from './shown.ts'
import type { Storages } from './storages.ts'

/** Bytes of a description: it names every file of its machine. */
const most = 4 * 1024 * 1024

/** What describes a manifest on its provider: the wire's own form. The provider itself is never in it. */
export const metadataOf = (manifest: StoredManifest, before: Readonly<Record<string, unknown>> = {}): object => ({
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
  virtual_machine_contents: manifest.virtual_machine_contents,
  pack_contents: manifest.pack_contents,
  created_at: manifest.created_at,
  updated_at: manifest.updated_at,
})

/** Reads a description; undefined when there is none. Throws `upstream` for what is none. */
export const readMetadata = async (
  provider: Provider,
  path: string,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  if (!(await provider.stat(path, signal))) return undefined
  const bad = (): ServiceError => new ServiceError('upstream', `${path} on the provider does not describe a manifest.`)
  const bytes = await bytesOf(await provider.read(path, { ...(signal && { signal }) }), most, bad)
  if (!isModest(bytes)) throw bad()
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
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
  const md5 = path === undefined ? undefined : (await readMetadata(provider, path, signal))?.['compressed_checksum']
  return typeof md5 === 'string' && /^[0-9a-f]{32}$/i.test(md5) ? md5.toLowerCase() : undefined
}

export const writeMetadata = (
  provider: Provider,
  path: string,
  metadata: object,
  signal?: AbortSignal,
): Promise<void> =>
  provider.write(path, sourceOfBytes(Buffer.from(JSON.stringify(metadata, undefined, 2))), {
    ...(signal && { signal }),
  })

/** Takes back what was written. */
export type Undo = () => Promise<void>

/**
 * Makes the description on the provider say what the manifest is going to say. Gives what takes that back. A manifest
 * without a provider has none.
 */
export const describeOnProvider = async (storages: Storages, manifest: StoredManifest): Promise<Undo> => {
  const path = metadataPath(manifest)
  if (path === undefined || !storageOf(manifest)) return async () => {}
  const provider = await storages.open(requireStorage(manifest))
  const before = await readMetadata(provider, path)
  await writeMetadata(provider, path, metadataOf(manifest, before))
  return () => (before ? writeMetadata(provider, path, before) : provider.remove(path))
}
