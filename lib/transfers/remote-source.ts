import { ServiceError } from '#lib/errors.ts'
import { type Storage, parseStorage } from '#lib/objects/port/connection.ts'
import type { Architecture } from '#lib/catalog/identifiers.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { readPackMd5 } from '#lib/catalog/metadata.ts'
import { refuseHidden } from '#lib/catalog/owners.ts'
import type { RemoteManifest } from '#lib/remote-catalogs/manifest-replies.ts'
import { requestJson, type RemoteCatalogSession, findVisibleManifest } from '#lib/remote-catalogs/session.ts'
import { formatCatalogPath } from '#lib/remote-catalogs/catalog-path.ts'
import { normalizeRemoteManifest } from '#lib/remote-catalogs/manifest-from-remote.ts'
import type { TransferContext } from './context.ts'
import { openProviderSource, type PackSource, type SourceOptions } from './download/pack-source.ts'
import type { PullManifest } from './schemas.ts'
import { openServedSource } from './served-source.ts'

/** Parses what a pull needs of a manifest of another service. Such a service may leave out empty members. */
const parseRemoteManifest = (manifest: RemoteManifest) => {
  const readText = (...keys: readonly string[]): string => {
    const value = keys.map(key => manifest[key]).find(candidate => typeof candidate === 'string' && candidate !== '')
    return typeof value === 'string' ? value : ''
  }
  // The schema of such manifests says nothing about this member, so its parts are checked here.
  const { provider } = manifest as { provider?: { type?: unknown; meta?: unknown } | null }
  const settings = Object.entries<unknown>(Object(provider?.meta)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const sha256 = readText('pack_sha256')
  return {
    folder: readText('path'),
    packName: readText('pack_filename', 'pack_path'),
    metadataName: readText('metadata_filename', 'metadata_path'),
    sha256: /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined,
    providerType: typeof provider?.type === 'string' ? provider.type : '',
    settings: Object.fromEntries(settings),
  }
}

/**
 * Parses the storage that the manifest of another service names, with the settings of the request. The other service must
 * not name what belongs to this host: its folders, and the credentials of its environment. Throws `invalid`.
 */
const parseRemoteStorage = (
  type: string,
  remoteSettings: Readonly<Record<string, string>>,
  requestSettings: Readonly<Record<string, string>>,
): Storage => {
  const { use_environment_authentication: _, ...allowedSettings } = remoteSettings
  const storage = parseStorage(type, { ...allowedSettings, ...requestSettings })
  if (storage.type === 'local-storage')
    throw new ServiceError(
      'invalid',
      'The other catalog has the pack in a folder and does not serve it. If this host reaches that folder too, name it with provider=local-storage;catalog_path=….',
    )
  return storage
}

/** A pack of the catalog of another service. */
export interface RemotePack {
  readonly manifest: CatalogManifest
  readonly sha256: string | undefined
  /** The path at which the other service serves the pack, if it does. Undefined when the request names the storage. */
  readonly servedPath: string | undefined
  readonly packName: string
  /** The paths of the pack and of its description in the storage. */
  readonly path: string
  readonly metadataPath: string | undefined
  /** Gives the storage that the request or the manifest names. Throws `invalid`. */
  readStorage(): Storage
}

/**
 * Finds the pack of a pull in the catalog of another service, and counts its download there once for the job. Throws what the
 * other service throws.
 */
export const findRemotePack = async (
  session: RemoteCatalogSession,
  request: Pick<PullManifest, 'catalog_id' | 'version' | 'provider_metadata'> & { readonly architecture: Architecture },
  requestStorage: Storage | undefined,
  { job, signal }: SourceOptions,
): Promise<RemotePack> => {
  const { architecture } = request
  const path = formatCatalogPath(request.catalog_id, request.version, architecture)
  // The manifest is read first, because the second request counts a download, and the caller may not see every manifest.
  const visible = findVisibleManifest(session, await requestJson(session, { method: 'GET', path, signal }))
  // The second request names the version: a tag could refer to another manifest by now, which the caller may not see.
  const downloadPath = `${formatCatalogPath(request.catalog_id, visible.version || request.version, architecture)}/download`
  const headers = { 'X-Internal-Api-Client': 'true' }
  const query = job === undefined ? {} : { job }
  const reply = await requestJson(session, { method: 'GET', path: downloadPath, query, headers, signal })
  const found = findVisibleManifest(session, reply)
  const { sha256, folder, packName, metadataName, providerType, settings } = parseRemoteManifest(found)
  const requestSettings = { ...requestStorage?.meta, ...request.provider_metadata }
  const toObjectPath = (name: string): string => [...folder.split('/').filter(Boolean), name].join('/')
  return {
    manifest: normalizeRemoteManifest(found, request),
    sha256,
    servedPath: Object.keys(requestSettings).length === 0 ? downloadPath : undefined,
    packName,
    path: toObjectPath(packName),
    metadataPath: metadataName && toObjectPath(metadataName),
    readStorage: () =>
      requestStorage
        ? parseStorage(requestStorage.type, requestSettings)
        : parseRemoteStorage(providerType, settings, request.provider_metadata),
  }
}

/**
 * Opens a pack of the catalog of another service. If the request has storage settings, the pack comes from its storage.
 * Otherwise the other service serves it, or its manifest names the storage. Throws what the other service and the storage
 * throw.
 */
export const openRemoteSource = async (
  { architecture: hostArchitecture, catalog }: TransferContext,
  session: RemoteCatalogSession,
  request: PullManifest,
  requestStorage: Storage | undefined,
  options: SourceOptions,
): Promise<PackSource> => {
  const { signal } = options
  const reference = { ...request, architecture: request.architecture ?? hostArchitecture }
  const pack = await findRemotePack(session, reference, requestStorage, options)
  const { manifest, sha256, servedPath, path } = pack
  const { url } = session.server
  if (servedPath !== undefined) {
    const served = await openServedSource(session, servedPath, { manifest, catalog: url, origin: url, sha256 }, signal)
    if (served) return served
  }
  const storage = pack.readStorage()
  await refuseHidden(catalog, session.caller, storage, [path])
  const provider = await catalog.storages.open(storage)
  const md5 = sha256 === undefined ? await readPackMd5(provider, pack.metadataPath, signal) : undefined
  const description = { manifest, catalog: url, origin: JSON.stringify([url, storage]), sha256, md5 }
  return openProviderSource(provider, path, description, signal)
}
