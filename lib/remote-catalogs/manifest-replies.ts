import { maskRemoteStorage } from '#lib/objects/port/connection.ts'
import type { ManifestRequirements } from '#lib/catalog/visibility.ts'
import { ServiceError } from '#lib/errors.ts'

/** A manifest of another service. The members that decide about access and identity are checked; all others are forwarded. */
export interface RemoteManifest extends ManifestRequirements {
  readonly [key: string]: unknown
  readonly catalog_id?: string | null
  readonly version?: string | null
  readonly architecture?: string | null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isOptionalText = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string'
const isOptionalNameList = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.every(name => typeof name === 'string'))

// Without a schema, which would make an issue for each of the millions of bad items that a hostile service can send.
const isManifest = (value: unknown): value is RemoteManifest =>
  isObject(value) &&
  (typeof value['name'] === 'string' || typeof value['catalog_id'] === 'string') &&
  ['catalog_id', 'version', 'architecture'].every(key => isOptionalText(value[key])) &&
  ['required_claims', 'required_roles'].every(key => isOptionalNameList(value[key]))

const isListGroup = (item: unknown): item is Readonly<Record<string, readonly unknown[]>> =>
  isObject(item) && !isManifest(item) && Object.values(item).every(Array.isArray)

/** Gives the manifests of a list's item. Some services send an object per catalog id, whose member is a list of manifests. */
const flattenItem = (item: unknown): readonly unknown[] => (isListGroup(item) ? Object.values(item).flat() : [item])

/** Gives the manifests of a reply. Throws `upstream` for any other reply. */
export const parseManifests = (reply: unknown): readonly RemoteManifest[] => {
  const items = Array.isArray(reply) ? reply.flatMap(flattenItem) : [reply]
  if (items.every(isManifest)) return items
  throw new ServiceError('upstream', 'The reply of the remote catalog has no manifests.')
}

/** Masks the storage secrets of a manifest, because some services send them. */
const maskSecrets = (manifest: RemoteManifest): RemoteManifest => {
  const { provider } = manifest
  if (!isObject(provider)) return manifest
  const { type, meta, ...rest } = provider
  const masked = isObject(meta) ? maskRemoteStorage(String(type), meta) : undefined
  return { ...manifest, provider: { type, ...maskRemoteStorage('', rest), ...(masked && { meta: masked }) } }
}

/**
 * Gives the manifests of a reply without storage secrets, for a caller who uses the credentials of somebody else. Throws as
 * `parseManifests`.
 */
export const parseMaskedManifests = (reply: unknown): readonly RemoteManifest[] =>
  parseManifests(reply).map(maskSecrets)

/**
 * Throws `conflict` when the caller may see no version of a catalog id. A new version would become the latest, so everybody
 * who pulls the hidden catalog id would get it.
 */
export const refuseHiddenId = (
  versions: readonly RemoteManifest[],
  canSee: (manifest: RemoteManifest) => boolean,
): void => {
  if (versions.length > 0 && !versions.some(canSee))
    throw new ServiceError('conflict', 'The other catalog has this id already, and it is not yours to add to.')
}
