import type { Principal } from '#lib/access/principal.ts'
import { toLockKey } from '#lib/catalog/changes.ts'
import { createHiddenCheck, createOtherOwnersCheck } from '#lib/catalog/owners.ts'
import { applyRegistration, findReplaced, refuseNewHiddenObjects, registerManifest } from '#lib/catalog/register.ts'
import { toManifestView } from '#lib/catalog/view.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import type { CatalogPart } from './context.ts'
import type { PushTarget } from './push-target.ts'
import { createRemoteTarget } from './remote-target.ts'

const createCatalogTarget = ({ catalog }: CatalogPart, caller: Principal, storage: Storage): PushTarget => ({
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

/**
 * Creates the target of a push: the catalog of `session`, or without one that of this service. Throws `invalid` when the
 * other catalog could not read the storage.
 */
export const createPushTarget = (
  context: CatalogPart,
  caller: Principal,
  storage: Storage,
  session: RemoteCatalogSession | undefined,
): PushTarget => {
  if (!session) return createCatalogTarget(context, caller, storage)
  if (storage.type === 'local-storage')
    throw new ServiceError(
      'invalid',
      'The push is to another catalog and to local storage, which the other host cannot read. Name a storage that both hosts reach, or push to the catalog of this host, from which others can pull.',
    )
  return createRemoteTarget(session)
}
