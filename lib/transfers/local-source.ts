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
import { toManifestView } from '#lib/catalog/view.ts'
import type { TransferContext } from './context.ts'
import { openProviderSource, type PackSource, type SourceOptions } from './download/pack-source.ts'
import type { PullManifest } from './schemas.ts'

/**
 * Opens a pack of the catalog of this service and counts its download once for the job. The storage settings of the request
 * override those of the manifest. If they name another storage, the credentials of the manifest are not sent there. Throws
 * `not-found`, `invalid` (tainted), `forbidden` (revoked), and what the provider throws.
 */
export const openLocalSource = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  requestStorage: Storage | undefined,
  { job, signal }: SourceOptions,
): Promise<PackSource> => {
  const { catalog } = context
  const architecture = request.architecture ?? context.architecture
  const find = () =>
    findManifest(catalog.inventory, caller, { catalogId: request.catalog_id, version: request.version, architecture })
  const manifest = find()
  assertUsable(manifest)
  const ownStorage = requireStorage(manifest)
  const settings = { ...requestStorage?.meta, ...request.provider_metadata }
  const path = toPackPath(manifest)
  if (path === undefined) throw new ServiceError('not-found', `The manifest ${manifest.name} has no pack.`)
  const storage = mergeStorage(ownStorage, requestStorage?.type ?? ownStorage.type, settings)
  if (isSameStorage(ownStorage, storage)) await refuseHiddenObjects(catalog, caller, manifest)
  else await refuseHidden(catalog, caller, storage, [path])
  const provider = await catalog.storages.open(storage)
  const md5 = manifest.pack_sha256 === '' ? await readPackMd5(provider, toMetadataPath(manifest), signal) : undefined
  const description = {
    manifest: await toManifestView(catalog.contents, manifest),
    origin: JSON.stringify(storage),
    sha256: manifest.pack_sha256 || undefined,
    md5,
  }
  try {
    const source = await openProviderSource(provider, path, description, signal)
    await countDownload(catalog, caller, manifest.id, job)
    return source
  } catch (error) {
    // A push has replaced the pack meanwhile.
    if (isFault(error, 'not-found') && toPackPath(find()) !== path)
      return openLocalSource(context, caller, request, requestStorage, { job, signal })
    throw error
  }
}
