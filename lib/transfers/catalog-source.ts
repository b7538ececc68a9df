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
import type { Provider } from '#lib/objects/port/provider.ts'
import type { CatalogPart, TransferContext } from './context.ts'
import { openProviderSource, type PackSource, type SourceOptions } from './download/pack-source.ts'
import type { PullManifest } from './schemas.ts'

/** A pack of the catalog of this service that a caller may read. */
export interface CatalogPack {
  readonly manifest: ManifestRow
  /** Where the pack is, with the credentials for it. */
  readonly storage: Storage
  /** The path of the pack in the storage. */
  readonly path: string
}

/**
 * Finds the pack of a pull in the catalog of this service. The storage settings of the request override those of the manifest. If
 * they name another storage, the credentials of the manifest are not sent there. Throws `not-found`, `invalid` (tainted) and
 * `forbidden` (revoked).
 */
export const findCatalogPack = async (
  { catalog }: CatalogPart,
  caller: Principal,
  request: Pick<PullManifest, 'catalog_id' | 'version' | 'provider_metadata'> & { readonly architecture: string },
  requestStorage: Storage | undefined,
): Promise<CatalogPack> => {
  const { catalog_id: catalogId, version, architecture } = request
  const manifest = findManifest(catalog.inventory, caller, { catalogId, version, architecture })
  assertUsable(manifest)
  const ownStorage = requireStorage(manifest)
  const settings = { ...requestStorage?.meta, ...request.provider_metadata }
  const path = toPackPath(manifest)
  if (path === undefined) throw new ServiceError('not-found', `The manifest ${manifest.name} has no pack.`)
  const storage = mergeStorage(ownStorage, requestStorage?.type ?? ownStorage.type, settings)
  if (isSameStorage(ownStorage, storage)) await refuseHiddenObjects(catalog, caller, manifest)
  else await refuseHidden(catalog, caller, storage, [path])
  return { manifest, storage, path }
}

/** Reads the MD5 of a pack (lower-case hex) from its description. Undefined if its manifest has a SHA-256, or nobody knows one. */
export const readMissingMd5 = async (
  provider: Provider,
  manifest: ManifestRow,
  signal: AbortSignal,
): Promise<string | undefined> =>
  manifest.pack_sha256 === '' ? readPackMd5(provider, toMetadataPath(manifest), signal) : undefined

/**
 * Opens a pack of the catalog of this service and counts its download once for the job. Throws what `findCatalogPack` and the
 * provider throw.
 */
export const openCatalogSource = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  requestStorage: Storage | undefined,
  { job, signal }: SourceOptions,
): Promise<PackSource> => {
  const { catalog } = context
  const reference = { ...request, architecture: request.architecture ?? context.architecture }
  const find = () => findCatalogPack(context, caller, reference, requestStorage)
  const { manifest, storage, path } = await find()
  const provider = await catalog.storages.open(storage)
  const description = {
    manifest: await toManifestView(catalog.contents, manifest),
    origin: JSON.stringify(storage),
    sha256: manifest.pack_sha256 || undefined,
    md5: await readMissingMd5(provider, manifest, signal),
  }
  try {
    const source = await openProviderSource(provider, path, description, signal)
    await countDownload(catalog, caller, manifest.id, job)
    return source
  } catch (error) {
    // A push has replaced the pack meanwhile.
    if (isFault(error, 'not-found') && (await find()).path !== path)
      return openCatalogSource(context, caller, request, requestStorage, { job, signal })
    throw error
  }
}
