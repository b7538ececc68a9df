import { isFault, ServiceError } from '#lib/errors.ts'
import { type Storage, parseStorage } from '#lib/objects/port/connection.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { readPackMd5 } from '#lib/catalog/metadata.ts'
import { refuseHidden } from '#lib/catalog/owners.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import { openRemoteContent, readRemotePart } from '#lib/remote-catalogs/remote-download.ts'
import type { RemoteManifest } from '#lib/remote-catalogs/manifest-replies.ts'
import { requestJson, type RemoteCatalogSession, findVisibleManifest } from '#lib/remote-catalogs/session.ts'
import { formatCatalogPath } from '#lib/remote-catalogs/catalog-path.ts'
import { normalizeRemoteManifest } from '#lib/remote-catalogs/manifest-from-remote.ts'
import type { TransferContext } from './context.ts'
import { maxSidecarSize } from '#lib/packs/sidecar.ts'
import {
  openProviderSource,
  type PackSource,
  parseMatchingSidecar,
  type SourceOptions,
} from './download/pack-source.ts'
import type { PullManifest } from './schemas.ts'

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

/** Opens a pack that the other service serves itself. Returns undefined when that service is of another kind. */
const openServedSource = async (
  session: RemoteCatalogSession,
  path: string,
  manifest: CatalogManifest,
  sha256: string | undefined,
  signal: AbortSignal,
): Promise<PackSource | undefined> => {
  const pack = await openRemoteContent(session, path, { content: 'pack' }, signal)
  if (!pack) return undefined
  const { size } = pack
  const sidecarBytes = await readRemotePart(session, path, { content: 'pieces' }, maxSidecarSize, signal).catch(
    (error: unknown) => {
      if (isFault(error, 'not-found')) return undefined
      throw error
    },
  )
  const sidecar = parseMatchingSidecar(sidecarBytes, { size, sha256 })
  return {
    manifest,
    catalog: session.server.url,
    origin: session.server.url,
    size,
    sha256: sha256 ?? sidecar?.sha256,
    sidecar,
    async read(range, readSignal) {
      const bytes = await pack.read(range, readSignal)
      return toSource(bytes).read({ start: 0, end: bytes.length })
    },
    async readStoredChunk(chunk, readSignal) {
      const query = { content: 'chunk', sha256: chunk.sha256 }
      const bytes = await readRemotePart(session, path, query, chunk.size, readSignal)
      if (!bytes) throw new ServiceError('upstream', 'The other catalog does not serve the chunks of the pack.')
      return bytes
    },
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
  { job, signal }: SourceOptions,
): Promise<PackSource> => {
  const architecture = request.architecture ?? hostArchitecture
  const path = formatCatalogPath(request.catalog_id, request.version, architecture)
  // The manifest is read first, because the second request counts a download, and the caller may not see every manifest.
  const visible = findVisibleManifest(session, await requestJson(session, { method: 'GET', path, signal }))
  // The second request names the version: a tag could refer to another manifest by now, which the caller may not see.
  const downloadPath = `${formatCatalogPath(request.catalog_id, visible.version || request.version, architecture)}/download`
  const headers = { 'X-Internal-Api-Client': 'true' }
  const query = job === undefined ? {} : { job }
  const reply = await requestJson(session, { method: 'GET', path: downloadPath, query, headers, signal })
  const found = findVisibleManifest(session, reply)
  const manifest = normalizeRemoteManifest(found, { ...request, architecture })
  const { sha256, folder, packName, metadataName, providerType, settings } = parseRemoteManifest(found)
  const requestSettings = { ...requestStorage?.meta, ...request.provider_metadata }
  if (Object.keys(requestSettings).length === 0) {
    const served = await openServedSource(session, downloadPath, manifest, sha256, signal)
    if (served) return served
  }
  const storage = requestStorage
    ? parseStorage(requestStorage.type, requestSettings)
    : parseRemoteStorage(providerType, settings, request.provider_metadata)
  const toObjectPath = (name: string): string => [...folder.split('/').filter(Boolean), name].join('/')
  const toPackPath = toObjectPath(packName)
  await refuseHidden(catalog, session.caller, storage, [toPackPath])
  const provider = await catalog.storages.open(storage)
  const md5 =
    sha256 === undefined ? await readPackMd5(provider, metadataName && toObjectPath(metadataName), signal) : undefined
  const { url } = session.server
  const description = { manifest, catalog: url, origin: JSON.stringify([url, storage]), sha256, md5 }
  return openProviderSource(provider, toPackPath, description, signal)
}
