import type { Principal } from '#lib/access/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { toLockKey } from '#lib/catalog/changes.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import type { CatalogManifest, StoredManifest } from '#lib/catalog/manifest-schema.ts'
import { createHiddenCheck, createOtherOwnersCheck } from '#lib/catalog/owners.ts'
import { refuseNewHiddenObjects, findReplaced, applyRegistration, registerManifest } from '#lib/catalog/register.ts'
import { type RemoteManifest, parseManifests, refuseHiddenId } from '#lib/remote-catalogs/manifest-replies.ts'
import { requestJson, type RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import { normalizeRemoteManifest } from '#lib/remote-catalogs/manifest-from-remote.ts'
import { formatCatalogPath } from '#lib/remote-catalogs/catalog-path.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import { toManifestView } from '#lib/catalog/view.ts'
import type { TransferContext } from './context.ts'

type ManifestVersion = Pick<RegisterManifest, 'catalog_id' | 'version'>

/** The manifest that a catalog already has for what is pushed. */
export interface ExistingManifest {
  /** Undefined when another catalog does not say it. */
  readonly id?: string | undefined
  readonly pack_filename: string
  readonly pack_sha256: string
  readonly revoked: boolean
  /** The record, if the catalog is that of this service. */
  readonly record?: StoredManifest
}

/** The catalog in which a push registers its manifest. */
export interface PushTarget {
  /** Finds the manifest that the catalog already has. Throws `conflict` for one that the caller may not see. */
  findExisting(
    manifest: ManifestVersion,
    architecture: string,
    signal: AbortSignal,
  ): Promise<ExistingManifest | undefined>
  /** Says whether an object belongs to a manifest that the caller may not see, so that nothing may overwrite it. */
  isHidden(path: string): Promise<boolean>
  /** Called before anything is written. Throws `forbidden` when the push would overwrite what the caller may not see. */
  check(registration: RegisterManifest, existing: ExistingManifest | undefined): Promise<void>
  register(registration: RegisterManifest, signal: AbortSignal): Promise<CatalogManifest>
  /** Returns a function that says whether a manifest with another id owns an object, so that the push may not delete it. */
  createOwnerCheck(manifest: Pick<StoredManifest, 'id'>): Promise<(path: string) => Promise<boolean>>
}

const createLocalTarget = ({ catalog }: TransferContext, caller: Principal, storage: Storage): PushTarget => ({
  async findExisting(manifest, architecture) {
    const record = findReplaced(catalog, caller, { ...manifest, architecture })
    return record && { ...record, record }
  },
  isHidden: async path => (await createHiddenCheck(catalog, caller, storage))(path),
  check: (registration, existing) =>
    refuseNewHiddenObjects(
      catalog,
      caller,
      applyRegistration(registration, existing?.record, { at: catalog.clock.next() }),
      existing?.record,
    ),
  createOwnerCheck: manifest => createOtherOwnersCheck(catalog, manifest, storage),
  register: (registration, signal) =>
    catalog.withLock(
      toLockKey(registration),
      async () => toManifestView(catalog.contents, await registerManifest(catalog, caller, registration, signal)),
      signal,
    ),
})

const createRemoteTarget = (session: RemoteCatalogSession): PushTarget => ({
  // Only the other catalog knows which objects it has on the provider.
  async check() {},
  isHidden: async () => false,
  createOwnerCheck: async () => async () => false,
  async findExisting({ catalog_id, version }, architecture, signal) {
    const readManifests = async (...segments: readonly string[]): Promise<readonly RemoteManifest[]> =>
      parseManifests(
        await requestJson(session, { method: 'GET', path: formatCatalogPath(...segments), signal }).catch(
          (error: unknown) => {
            if (isFault(error, 'not-found')) return []
            throw error
          },
        ),
      )
    const manifests = await readManifests(catalog_id, version, architecture)
    const found = manifests.find(manifest => manifest.version === version)
    if (!found && !session.caller.superUser) refuseHiddenId(await readManifests(catalog_id), session.canSee)
    if (found && !session.canSee(found))
      throw new ServiceError('conflict', 'The other catalog has this manifest already, and it is not yours to change.')
    // A value that is not a valid name or digest counts as missing.
    const { id, pack_filename, pack_sha256 } = RegisterManifest.shape
    return (
      found && {
        id: id.safeParse(found['id']).data,
        pack_filename: pack_filename.safeParse(found['pack_filename']).data ?? '',
        pack_sha256: pack_sha256.safeParse(found['pack_sha256']).data ?? '',
        revoked: found['revoked'] === true,
      }
    )
  },
  async register(registration, signal) {
    const reply = await requestJson(session, { method: 'POST', path: '/catalog', body: registration, signal })
    const [registered] = parseManifests(reply)
    if (!registered)
      throw new ServiceError('upstream', `The catalog of ${session.server.name} does not say what it registered.`)
    // The result goes into a job, so it must not have the secrets of the storage, which some services repeat.
    return normalizeRemoteManifest(registered, registration)
  },
})

/**
 * Creates the target of a push: the catalog of `session`, or without one that of this service. Throws `invalid` when the
 * other catalog could not read the storage.
 */
export const createPushTarget = (
  context: TransferContext,
  caller: Principal,
  storage: Storage,
  session: RemoteCatalogSession | undefined,
): PushTarget => {
  if (!session) return createLocalTarget(context, caller, storage)
  if (storage.type === 'local-storage')
    throw new ServiceError(
      'invalid',
      'The push is to another catalog and to local storage, which the other host cannot read. Name a storage that both hosts reach, or push to the catalog of this host, from which others can pull.',
    )
  return createRemoteTarget(session)
}
