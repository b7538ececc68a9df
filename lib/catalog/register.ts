import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { type CatalogContext, manifestEvent } from './changes.ts'
import { nextTime } from './clock.ts'
import { type Storage, storageFrom } from './connection.ts'
import { samePlace, unmaskStorage } from './kept-storage.ts'
import { isLatest, losersTo, tagsWith } from './latest.ts'
import type { StoredManifest } from './manifest.ts'
import { manifestName } from './names.ts'
import { objectsOf } from './objects.ts'
import { refuseHidden } from './owners.ts'
import type { RegisterManifest } from './requests.ts'
import { type Kept, storageOf } from './shown.ts'
import { commitTogether, latestMoved } from './together.ts'
import { visibleTo } from './visible.ts'

/** What a registration must say, and may say. */
type Given = Pick<RegisterManifest, 'catalog_id' | 'version' | 'architecture' | 'tags'> & Partial<RegisterManifest>

/** The storage of a request. What is masked in it stands for what is kept. */
const storageIn = ({ provider }: Given, before: StoredManifest | undefined): Storage | undefined => {
  const kept = before && storageOf(before)
  if (!provider?.type) return kept
  const storage = storageFrom(provider.type, provider.meta)
  return kept ? unmaskStorage(storage, kept) : storage
}

/** A manifest after a registration; what that leaves out stays, or is as new ones are. */
export const registeredManifest = (request: Given, before: StoredManifest | undefined): StoredManifest => {
  const { catalog_id, version, architecture } = request
  const name = manifestName(catalog_id, architecture, version)
  const now = nextTime()
  const storage = storageIn(request, before)
  const { provider: _, ...rest } = before ?? {
    id: crypto.randomUUID(),
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
    pack_contents: [],
    virtual_machine_contents: [],
    edition: 0,
    provider: undefined,
  }
  const { provider: __, pack_path, metadata_path, ...given } = request
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
 * already.
 */
export const refuseHiddenOf = async (
  context: CatalogContext,
  caller: Principal,
  manifest: StoredManifest,
  before?: StoredManifest,
): Promise<void> => {
  const [storage, earlier] = [storageOf(manifest), before && storageOf(before)]
  if (!storage) return
  const known = before && earlier && samePlace(earlier, storage) ? objectsOf(before) : []
  const added = objectsOf(manifest).filter(path => !known.includes(path))
  await refuseHidden(context, caller, storage, added)
}

const putOnRecord = async (context: CatalogContext, caller: Principal, request: RegisterManifest): Promise<Kept> => {
  const { manifests, inventory, tell } = context
  await commitTogether(context, async () => {
    const before = registeredBefore(context, caller, request)
    const registered = registeredManifest(request, before)
    await refuseHiddenOf(context, caller, registered, before)
    // Another architecture of a version is as late as that is.
    const same = inventory.of(request.catalog_id).filter(({ version }) => version === request.version)
    const next =
      same.length > 0 && !same.some(isLatest) ? { ...registered, tags: tagsWith(registered.tags, false) } : registered
    const losers = same.length > 0 ? [] : losersTo(inventory, next)
    return {
      writes: [
        manifests.put(before ? { ...next, rev: before.rev } : next),
        ...latestMoved(context, losers, false),
        manifestEvent(tell, before ? 'UPDATED' : 'ADDED', next),
      ],
      seen: before ? [before] : losers,
      changed: [next, ...losers].map(({ id }) => id),
    }
  })
  return find(context, request)!
}

/**
 * Puts a manifest on record, or replaces what is on record of the same id, version and architecture. A new version
 * becomes the latest. To be called in its turn.
 */
export const registerManifest = (
  context: CatalogContext,
  caller: Principal,
  request: RegisterManifest,
): Promise<Kept> => context.turns(request.catalog_id, () => putOnRecord(context, caller, request))
