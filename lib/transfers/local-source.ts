import type { Principal } from '#lib/access/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import { countDownload } from '#lib/catalog/download-count.ts'
import { findManifest } from '#lib/catalog/find.ts'
import { isSameStorage, mergeStorage } from '#lib/objects/port/merge-storage.ts'
import { assertUsable } from '#lib/catalog/flags.ts'
import { readPackMd5 } from '#lib/catalog/metadata.ts'
import { toMetadataPath, toPackPath, requireStorage } from '#lib/catalog/manifest-objects.ts'
import { refuseHidden, refuseHiddenObjects } from '#lib/catalog/owners.ts'
import { type ManifestRow, toManifestView } from '#lib/catalog/view.ts'
import type { TransferContext } from './context.ts'
import { type PackSource, providerSource, type SourceFor } from './download/pack-source.ts'
import type { PullManifest } from './schemas.ts'

/**
 * A pack of the catalog of this service, which is counted as downloaded by the job. What the request says of the storage is laid over
 * what is kept, unless it names another place: nothing of what opens the kept one goes there. Throws `not-found`, `invalid` (tainted), `forbidden` (revoked), and what the provider refuses with.
 */
export const localSource = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  given: Storage | undefined,
  { job, signal }: SourceFor,
): Promise<PackSource> => {
  const { catalog } = context
  const architecture = request.architecture ?? context.architecture
  const find = (): ManifestRow =>
    findManifest(catalog.inventory, caller, { catalogId: request.catalog_id, version: request.version, architecture })
  const manifest = find()
  assertUsable(manifest)
  const kept = requireStorage(manifest)
  const own = { ...given?.meta, ...request.provider_metadata }
  const path = toPackPath(manifest)
  if (path === undefined) throw new ServiceError('not-found', `The manifest ${manifest.name} has no pack.`)
  const storage = mergeStorage(kept, given?.type ?? kept.type, own)
  if (isSameStorage(kept, storage)) await refuseHiddenObjects(catalog, caller, manifest)
  else await refuseHidden(catalog, caller, storage, [path])
  const provider = await catalog.storages.open(storage)
  const md5 = manifest.pack_sha256 === '' ? await readPackMd5(provider, toMetadataPath(manifest), signal) : undefined
  const sha256 = manifest.pack_sha256 || undefined
  const known = {
    manifest: await toManifestView(catalog.contents, manifest),
    origin: JSON.stringify(storage),
    sha256,
    md5,
  }
  try {
    const source = await providerSource(provider, path, known, signal)
    await countDownload(catalog, caller, manifest.id, job)
    return source
  } catch (error) {
    // A push has replaced it meanwhile.
    if (isFault(error, 'not-found') && toPackPath(find()) !== path)
      return localSource(context, caller, request, given, { job, signal })
    throw error
  }
}
