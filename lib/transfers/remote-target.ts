import { RegisterManifest } from '#lib/catalog/schemas.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { formatCatalogPath } from '#lib/remote-catalogs/catalog-path.ts'
import { normalizeRemoteManifest } from '#lib/remote-catalogs/manifest-from-remote.ts'
import { parseManifests, refuseHiddenId, type RemoteManifest } from '#lib/remote-catalogs/manifest-replies.ts'
import { type RemoteCatalogSession, requestJson } from '#lib/remote-catalogs/session.ts'
import type { PushTarget } from './push-target.ts'

/** Creates the target of a push into the catalog of another service. */
export const createRemoteTarget = (session: RemoteCatalogSession): PushTarget => ({
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
