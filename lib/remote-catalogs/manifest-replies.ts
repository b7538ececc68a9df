import { maskRemoteStorage } from '#lib/objects/port/connection.ts'
import type { ManifestRequirements } from '#lib/catalog/visibility.ts'
import { ServiceError } from '#lib/errors.ts'

/** A manifest of another service: what is decided by is known, the rest is passed on. */
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

// By hand, and no further than the first mistake: a schema would describe each of millions that a bad service can send.
const isManifest = (value: unknown): value is RemoteManifest =>
  isObject(value) &&
  (typeof value['name'] === 'string' || typeof value['catalog_id'] === 'string') &&
  ['catalog_id', 'version', 'architecture'].every(key => isOptionalText(value[key])) &&
  ['required_claims', 'required_roles'].every(key => isOptionalNameList(value[key]))

/** The items of a list; other services of the field send one object per catalog id, which holds a list of its own. */
const flattenItem = (item: unknown): readonly unknown[] =>
  isObject(item) && !isManifest(item) && Object.values(item).every(Array.isArray)
    ? (Object.values(item) as unknown[][]).flat()
    : [item]

/** The manifests of a reply. Throws `upstream` for one that is no catalog's: nothing is passed on that is not understood. */
export const parseManifests = (reply: unknown): readonly RemoteManifest[] => {
  const items = Array.isArray(reply) ? reply.flatMap(flattenItem) : [reply]
  if (items.every(isManifest)) return items
  throw new ServiceError('upstream', 'The reply of the remote catalog is not one of manifests.')
}

/** As it may be shown: some services hand out what opens their storage. */
const maskSecrets = (manifest: RemoteManifest): RemoteManifest => {
  const { provider } = manifest
  if (!isObject(provider)) return manifest
  const { type, meta, ...rest } = provider
  const masked = isObject(meta) ? maskRemoteStorage(String(type), meta) : undefined
  return { ...manifest, provider: { type, ...maskRemoteStorage('', rest), ...(masked && { meta: masked }) } }
}

/** The manifests of a reply for somebody who asks by the credentials of others. Throws as `manifestsIn`. */
export const parseMaskedManifests = (reply: unknown): readonly RemoteManifest[] =>
  parseManifests(reply).map(maskSecrets)

/**
 * Throws `conflict` for an id of which somebody may know nothing: its next version would be what everybody else gets who
 * asks for the latest.
 */
export const refuseHiddenId = (
  versions: readonly RemoteManifest[],
  canSee: (manifest: RemoteManifest) => boolean,
): void => {
  if (versions.length > 0 && !versions.some(canSee))
    throw new ServiceError('conflict', 'The other catalog has this id already, and it is not yours to add to.')
}
