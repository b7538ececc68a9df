import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { type CatalogContext, publishManifestEvent } from './changes.ts'
import { type Storage, parseStorage } from '#lib/objects/port/connection.ts'
import { type ManifestContents, emptyContents } from './contents.ts'
import { isSameStorage, unmaskStorage } from '#lib/objects/port/merge-storage.ts'
import { isLatest, findDemotedBy, setLatestTag } from './latest.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { formatManifestName } from './identifiers.ts'
import { listObjectPaths } from './manifest-objects.ts'
import { refuseHidden } from './owners.ts'
import type { RegisterManifest } from './schemas.ts'
import { type ManifestRow, getStorage } from './view.ts'
import { commitAll, putLatestTags } from './commit-all.ts'
import { createVisibilityCheck } from './visibility.ts'

/** A registration: the members that every one has, and those that it may leave out. */
type RegistrationRequest = Pick<RegisterManifest, 'catalog_id' | 'version' | 'architecture' | 'tags'> &
  Partial<RegisterManifest>

/** The time of a registration, and the id of the user. */
interface Registration {
  readonly at: string
  readonly by?: string
}

/** The storage of a manifest after a registration. Masked values of the request stand for the stored ones. Throws `invalid`. */
const resolveStorage = ({ provider }: RegistrationRequest, before: StoredManifest | undefined): Storage | undefined => {
  const stored = before && getStorage(before)
  if (!provider?.type) return stored
  const storage = parseStorage(provider.type, provider.meta)
  return stored ? unmaskStorage(storage, stored) : storage
}

const createManifest = (
  { id, catalog_id, version, architecture }: RegistrationRequest,
  { at, by }: Registration,
): StoredManifest => ({
  id: id ?? crypto.randomUUID(),
  catalog_id,
  version,
  architecture,
  name: formatManifestName(catalog_id, architecture, version),
  description: '',
  tags: [],
  required_claims: [],
  required_roles: [],
  type: 'pvm',
  minimum_requirements: { cpu: 0, memory: 0, disk: 0 },
  is_compressed: false,
  size: 0,
  pack_size: 0,
  pack_sha256: '',
  path: `/${catalog_id}`,
  pack_filename: '',
  metadata_filename: '',
  pack_relative_path: '',
  download_count: 0,
  last_downloaded_user: '',
  tainted: false,
  tainted_by: '',
  untainted_by: '',
  revoked: false,
  revoked_by: '',
  created_at: at,
  updated_at: at,
  ...(by !== undefined && { owner_id: by }),
  edition: 0,
})

/** Removes undefined members, so that the object can be spread over defaults. */
const removeUndefined = <T extends object>(object: T) =>
  // `Object.fromEntries` forgets the names of the members.
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/**
 * Gives the manifest as a registration makes it. Members that the request leaves out keep their values, or get the defaults
 * of a new manifest. A new manifest has the id of the request. Throws `invalid` for a bad provider.
 */
export const applyRegistration = (
  request: RegistrationRequest,
  before: StoredManifest | undefined,
  registration: Registration,
): StoredManifest => {
  const base = before ?? createManifest(request, registration)
  const storage = resolveStorage(request, before)
  const {
    id: _,
    provider: __,
    pack_contents: ___,
    virtual_machine_contents: ____,
    pack_path,
    metadata_path,
    ...fields
  } = request
  return {
    ...base,
    ...removeUndefined(fields),
    tags: setLatestTag(request.tags, before === undefined || isLatest(before)),
    name: formatManifestName(request.catalog_id, request.architecture, request.version),
    pack_filename: request.pack_filename ?? pack_path ?? base.pack_filename,
    metadata_filename: request.metadata_filename ?? metadata_path ?? base.metadata_filename,
    updated_at: registration.at,
    edition: base.edition + 1,
    ...(storage && { provider: { type: storage.type, meta: { ...storage.meta } } }),
  }
}

/** Gives the contents of a manifest as a registration makes them. Lists that the request leaves out stay. */
export const applyRegisteredContents = (
  request: Partial<RegisterManifest>,
  before = emptyContents,
): ManifestContents => ({
  pack_contents: request.pack_contents ?? before.pack_contents,
  virtual_machine_contents: request.virtual_machine_contents ?? before.virtual_machine_contents,
})

type ManifestIdentity = Pick<RegisterManifest, 'catalog_id' | 'version'> & { readonly architecture: string }

const findRegistered = (
  { inventory }: CatalogContext,
  { catalog_id, version, architecture }: ManifestIdentity,
): ManifestRow | undefined =>
  inventory
    .listVersions(catalog_id)
    .find(manifest => manifest.version === version && manifest.architecture === architecture)

/**
 * Finds the manifest that a registration would replace. Throws `conflict` when the caller may not see it, or may see no
 * version of the catalog id.
 */
export const findReplaced = (
  context: CatalogContext,
  caller: Principal,
  request: ManifestIdentity,
): ManifestRow | undefined => {
  const before = findRegistered(context, request)
  const canSee = createVisibilityCheck(caller)
  if (before && !canSee(before))
    throw new ServiceError('conflict', 'The catalog has this manifest already, and it is not yours to change.')
  // A new version would become the latest, so everybody who pulls the hidden catalog id would get it.
  const versions = context.inventory.listVersions(request.catalog_id)
  if (versions.length > 0 && !versions.some(canSee))
    throw new ServiceError('conflict', 'The catalog has this id already, and it is not yours to add to.')
  return before
}

/**
 * Throws `forbidden` when a changed manifest names new objects that belong to a manifest that the caller may not see. The
 * description with the manifest's name belongs to it, so another manifest that names it cannot block the change.
 */
export const refuseNewHiddenObjects = async (
  context: CatalogContext,
  caller: Principal,
  manifest: StoredManifest,
  before?: StoredManifest,
): Promise<void> => {
  const [storage, earlierStorage] = [getStorage(manifest), before && getStorage(before)]
  if (!storage) return
  // Throws for a kind of storage that this program does not have.
  await context.storages.getStorageKey(storage)
  const earlierPaths = before && earlierStorage && isSameStorage(earlierStorage, storage) ? listObjectPaths(before) : []
  const ownMetadata = `${manifest.catalog_id}/${manifest.name}.meta`
  const added = listObjectPaths(manifest).filter(path => path !== ownMetadata && !earlierPaths.includes(path))
  await refuseHidden(context, caller, storage, added)
}

/** Throws `conflict` for a caller who has as many manifests as one user can have. */
const checkQuota = ({ inventory, manifestsPerUser }: CatalogContext, caller: Principal): void => {
  if (inventory.countOwnedBy(caller.id) >= manifestsPerUser)
    throw new ServiceError(
      'conflict',
      `You have ${manifestsPerUser} manifests in the catalog, which is all that one user can have (manifests_per_user). Delete some first.`,
    )
}

/** Removes the id from a request if another manifest has it. */
const removeUsedId = ({ inventory }: CatalogContext, request: RegisterManifest): RegisterManifest =>
  request.id !== undefined && inventory.get(request.id) ? { ...request, id: undefined } : request

const commitRegistration = async (
  context: CatalogContext,
  caller: Principal,
  request: RegisterManifest,
): Promise<ManifestRow> => {
  const { manifests, inventory, contents, publish } = context
  await commitAll(context, async () => {
    const before = findReplaced(context, caller, request)
    if (!before) checkQuota(context, caller)
    const files = applyRegisteredContents(request, before && (await contents.read(before)))
    const registered: StoredManifest = {
      ...applyRegistration(removeUsedId(context, request), before, { at: context.clock.next(), by: caller.id }),
      has_contents: !contents.isEmpty(files),
    }
    await refuseNewHiddenObjects(context, caller, registered, before)
    // All architectures of a version have the tag of the latest, or none of them has it.
    const sameVersion = inventory.listVersions(request.catalog_id).filter(({ version }) => version === request.version)
    const next =
      sameVersion.length > 0 && !sameVersion.some(isLatest)
        ? { ...registered, tags: setLatestTag(registered.tags, false) }
        : registered
    const demoted = sameVersion.length > 0 ? [] : findDemotedBy(inventory, next)
    return {
      writes: [
        manifests.put(before ? { ...next, rev: before.rev } : next),
        contents.put(next.id, files),
        ...putLatestTags(context, demoted, false),
        publishManifestEvent(publish, before ? 'UPDATED' : 'ADDED', next),
      ],
      basedOn: before ? [before] : demoted,
      changedIds: [next, ...demoted].map(({ id }) => id),
    }
  })
  // The caller holds the lock of the manifest, so nobody has removed it meanwhile.
  return findRegistered(context, request)!
}

/**
 * Registers a manifest, or replaces the one with the same catalog id, version and architecture. A new version becomes the
 * latest. The caller holds the lock of the manifest. Throws the signal's reason when it is aborted during the wait.
 */
export const registerManifest = (
  context: CatalogContext,
  caller: Principal,
  request: RegisterManifest,
  signal?: AbortSignal,
): Promise<ManifestRow> =>
  context.withLock(request.catalog_id, () => commitRegistration(context, caller, request), signal)
