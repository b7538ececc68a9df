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
import type { Before } from './pushed-objects.ts'

type Named = Pick<RegisterManifest, 'catalog_id' | 'version'>

/** What a catalog has already: its id where that is known, and its record where it is this service's. */
export type KnownBefore = Before & { readonly id?: string | undefined; readonly record?: StoredManifest }

/** The catalog that a push tells of its pack. */
export interface Target {
  /** What it has of that already. Throws `conflict` for what the caller may not know of. */
  before(what: Named, architecture: string, signal: AbortSignal): Promise<KnownBefore | undefined>
  /** Whether an object is of a manifest that the caller may not know of, so that nothing may be written over it. */
  hides(path: string): Promise<boolean>
  /** Before anything is written. Throws `forbidden` where that would be over what the caller may not know of. */
  check(registration: RegisterManifest, before: KnownBefore | undefined): Promise<void>
  register(registration: RegisterManifest, signal: AbortSignal): Promise<CatalogManifest>
  /** Says of an object whether it is also of a manifest with another id than this, and so not the push's to delete. */
  others(manifest: Pick<StoredManifest, 'id'>): Promise<(path: string) => Promise<boolean>>
}

const localTarget = ({ catalog }: TransferContext, caller: Principal, storage: Storage): Target => ({
  async before(what, architecture) {
    const found = findReplaced(catalog, caller, { ...what, architecture })
    return found && { ...found, record: found }
  },
  hides: async path => (await createHiddenCheck(catalog, caller, storage))(path),
  check: (registration, before) =>
    refuseNewHiddenObjects(
      catalog,
      caller,
      applyRegistration(registration, before?.record, { at: catalog.clock.next() }),
      before?.record,
    ),
  others: manifest => createOtherOwnersCheck(catalog, manifest, storage),
  register: (registration, signal) =>
    catalog.withLock(
      toLockKey(registration),
      async () => toManifestView(catalog.contents, await registerManifest(catalog, caller, registration, signal)),
      signal,
    ),
})

const peerTarget = (peer: RemoteCatalogSession): Target => ({
  // What that catalog has there it alone knows.
  async check() {},
  hides: async () => false,
  others: async () => async () => false,
  async before({ catalog_id, version }, architecture, signal) {
    const manifestsAt = async (...place: readonly string[]): Promise<readonly RemoteManifest[]> =>
      parseManifests(
        await requestJson(peer, { method: 'GET', path: formatCatalogPath(...place), signal }).catch(
          (error: unknown) => {
            if (isFault(error, 'not-found')) return []
            throw error
          },
        ),
      )
    const found = (await manifestsAt(catalog_id, version, architecture)).find(one => one.version === version)
    if (!found && !peer.caller.superUser) refuseHiddenId(await manifestsAt(catalog_id), peer.canSee)
    if (found && !peer.canSee(found))
      throw new ServiceError('conflict', 'The other catalog has this manifest already, and it is not yours to change.')
    // What is no name or no digest says as much as nothing.
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
    const reply = await requestJson(peer, { method: 'POST', path: '/catalog', body: registration, signal })
    const [registered] = parseManifests(reply)
    if (!registered)
      throw new ServiceError('upstream', `The catalog of ${peer.server.name} does not say what it registered.`)
    // It goes into a job: some services repeat what opens the storage.
    return normalizeRemoteManifest(registered, registration)
  },
})

/** The catalog that a push tells: of a peer, or without one of this service. Throws `invalid`. */
export const targetOf = (
  context: TransferContext,
  caller: Principal,
  storage: Storage,
  peer: RemoteCatalogSession | undefined,
): Target => {
  if (!peer) return localTarget(context, caller, storage)
  if (storage.type === 'local-storage')
    throw new ServiceError(
      'invalid',
      'The push is to another catalog and to local storage, which that could not read. Name a storage that both reach; or push to the catalog of this host, from which others can pull.',
    )
  return peerTarget(peer)
}
