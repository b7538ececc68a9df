import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { type CatalogContext, manifestEvent } from './changes.ts'
import { type Storage, parseStorage } from '#lib/objects/port/connection.ts'
import { type ManifestContents, noContents } from './contents.ts'
import { isSameStorage, unmaskStorage } from '#lib/objects/port/merge-storage.ts'
import { isLatest, losersTo, tagsWith } from './latest.ts'
import type { StoredManifest } from './manifest-schema.ts'
import { manifestName } from './identifiers.ts'
import { objectsOf } from './manifest-objects.ts'
import { refuseHidden } from './owners.ts'
import type { RegisterManifest } from './schemas.ts'
import { type Kept, storageOf } from './view.ts'
import { commitTogether, latestMoved } from './commit-all.ts'
import { visibleTo } from './visibility.ts'

/** What a registration must say, and may say. */
type Given = Pick<RegisterManifest, 'catalog_id' | 'version' | 'architecture' | 'tags'> & Partial<RegisterManifest>

/** What a manifest is made with: the time of the change, and who makes it. */
interface Made {
  readonly at: string
  readonly by?: string
}

/** The storage of a request. What is masked in it stands for what is kept. */
const storageIn = ({ provider }: Given, before: StoredManifest | undefined): Storage | undefined => {
  const kept = before && storageOf(before)
  if (!provider?.type) return kept
  const storage = parseStorage(provider.type, provider.meta)
  return kept ? unmaskStorage(storage, kept) : storage
}

/** A manifest after a registration; what that leaves out stays, or is as new ones are. A new one has the id of the request. */
export const registeredManifest = (
  request: Given,
  before: StoredManifest | undefined,
  { at: now, by }: Made,
): StoredManifest => {
  const { catalog_id, version, architecture } = request
  const name = manifestName(catalog_id, architecture, version)
  const storage = storageIn(request, before)
  const { provider: _, ...rest } = before ?? {
    id: request.id ?? crypto.randomUUID(),
    description: '',
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
    created_at: now,
    ...(by !== undefined && { owner_id: by }),
    edition: 0,
    provider: undefined,
  }
  const {
    id: __,
    provider: ___,
    pack_contents: ____,
    virtual_machine_contents: _____,
    pack_path,
    metadata_path,
    ...given
  } = request
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return {
    ...rest,
    ...known,
    tags: tagsWith(given.tags, before === undefined || isLatest(before)),
    name,
    pack_filename: given.pack_filename ?? pack_path ?? rest.pack_filename,
    metadata_filename: given.metadata_filename ?? metadata_path ?? rest.metadata_filename,
    updated_at: now,
    edition: rest.edition + 1,
    ...(storage && { provider: { type: storage.type, meta: { ...storage.meta } } }),
  } as StoredManifest
}

/** The contents of a manifest after a registration; what that leaves out stays. */
export const registeredContents = (request: Partial<RegisterManifest>, before = noContents): ManifestContents => ({
  pack_contents: request.pack_contents ?? before.pack_contents,
  virtual_machine_contents: request.virtual_machine_contents ?? before.virtual_machine_contents,
})

type Named = Pick<RegisterManifest, 'catalog_id' | 'version'> & { readonly architecture: string }

const find = ({ inventory }: CatalogContext, { catalog_id, version, architecture }: Named): Kept | undefined =>
  inventory.of(catalog_id).find(one => one.version === version && one.architecture === architecture)

/**
 * The manifest that a registration would replace. Throws `conflict` for one that the caller may not know of, and for an id
 * of which they may know nothing.
 */
export const registeredBefore = (context: CatalogContext, caller: Principal, request: Named): Kept | undefined => {
  const before = find(context, request)
  const sees = visibleTo(caller)
  if (before && !sees(before))
    throw new ServiceError('conflict', 'The catalog has this manifest already, and it is not yours to change.')
  // Its next version would be what everybody else gets who asks for the latest.
  const versions = context.inventory.of(request.catalog_id)
  if (versions.length > 0 && !versions.some(sees))
    throw new ServiceError('conflict', 'The catalog has this id already, and it is not yours to add to.')
  return before
}

/**
 * Throws `forbidden` when a manifest is to have objects of one that the caller may not know of, and that it does not have
 * already. The description that bears its name is its own: whoever else names that keeps nobody from their manifest.
 */
export const refuseHiddenOf = async (
  context: CatalogContext,
  caller: Principal,
  manifest: StoredManifest,
  before?: StoredManifest,
): Promise<void> => {
  const [storage, earlier] = [storageOf(manifest), before && storageOf(before)]
  if (!storage) return
  const known = before && earlier && isSameStorage(earlier, storage) ? objectsOf(before) : []
  const own = `${manifest.catalog_id}/${manifest.name}.meta`
  const added = objectsOf(manifest).filter(path => path !== own && !known.includes(path))
  await refuseHidden(context, caller, storage, added)
}

/** Throws `conflict` for a caller who has as many manifests as one user can have. */
const checkQuota = ({ inventory, manifestsPerUser }: CatalogContext, caller: Principal): void => {
  if (inventory.countOf(caller.id) >= manifestsPerUser)
    throw new ServiceError(
      'conflict',
      `You have ${manifestsPerUser} manifests in the catalog, which is all that one user can have (manifests_per_user). Delete some first.`,
    )
}

/** The request with an id that is free: one that it names, unless another manifest has that. */
const withFreeId = ({ inventory }: CatalogContext, request: RegisterManifest): RegisterManifest =>
  request.id !== undefined && inventory.get(request.id) ? { ...request, id: undefined } : request

const putOnRecord = async (context: CatalogContext, caller: Principal, request: RegisterManifest): Promise<Kept> => {
  const { manifests, inventory, contents, publish } = context
  await commitTogether(context, async () => {
    const before = registeredBefore(context, caller, request)
    if (!before) checkQuota(context, caller)
    const files = registeredContents(request, before && (await contents.of(before)))
    const registered: StoredManifest = {
      ...registeredManifest(withFreeId(context, request), before, { at: context.clock.next(), by: caller.id }),
      has_contents: !contents.isEmpty(files),
    }
    await refuseHiddenOf(context, caller, registered, before)
    // Another architecture of a version is as late as that is.
    const same = inventory.of(request.catalog_id).filter(({ version }) => version === request.version)
    const next =
      same.length > 0 && !same.some(isLatest) ? { ...registered, tags: tagsWith(registered.tags, false) } : registered
    const losers = same.length > 0 ? [] : losersTo(inventory, next)
    return {
      writes: [
        manifests.put(before ? { ...next, rev: before.rev } : next),
        contents.put(next.id, files),
        ...latestMoved(context, losers, false),
        manifestEvent(publish, before ? 'UPDATED' : 'ADDED', next),
      ],
      seen: before ? [before] : losers,
      changed: [next, ...losers].map(({ id }) => id),
    }
  })
  return find(context, request)!
}

/**
 * Puts a manifest on record, or replaces what is on record of the same id, version and architecture. A new version
 * becomes the latest. To be called in its turn. Throws the reason of the signal for who waits no longer.
 */
export const registerManifest = (
  context: CatalogContext,
  caller: Principal,
  request: RegisterManifest,
  signal?: AbortSignal,
): Promise<Kept> => context.turns(request.catalog_id, () => putOnRecord(context, caller, request), signal)
