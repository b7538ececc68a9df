import { isFault, ServiceError } from '#lib/errors.ts'
import { type Storage, parseStorage } from '#lib/objects/port/connection.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { readPackMd5 } from '#lib/catalog/metadata.ts'
import { refuseHidden } from '#lib/catalog/owners.ts'
import { sourceFromBytes } from '#lib/objects/port/bytes.ts'
import { openRemoteContent, readRemotePart } from '#lib/remote-catalogs/remote-download.ts'
import type { RemoteManifest } from '#lib/remote-catalogs/manifest-replies.ts'
import { requestJson, type RemoteCatalogSession, findVisibleManifest } from '#lib/remote-catalogs/session.ts'
import { formatCatalogPath } from '#lib/remote-catalogs/catalog-path.ts'
import { normalizeRemoteManifest } from '#lib/remote-catalogs/manifest-from-remote.ts'
import type { TransferContext } from './context.ts'
import { largestSideFile } from '#lib/packs/sidecar.ts'
import { type PackSource, providerSource, sideOf, type SourceFor } from './download/pack-source.ts'
import type { PullManifest } from './schemas.ts'

/** What a pull reads of a manifest of another service, which may leave out what is empty. */
const readManifest = (found: RemoteManifest) => {
  const text = (...keys: readonly string[]): string => {
    const value = keys.map(key => found[key]).find(one => typeof one === 'string' && one !== '')
    return typeof value === 'string' ? value : ''
  }
  const { provider } = found as { provider?: { type?: unknown; meta?: unknown } | null }
  const meta = Object.entries(Object(provider?.meta) as object).filter(([, value]) => typeof value === 'string')
  return {
    path: text('path'),
    pack: text('pack_filename', 'pack_path'),
    metadata: text('metadata_filename', 'metadata_path'),
    sha256: /^[0-9a-f]{64}$/.test(text('pack_sha256')) ? text('pack_sha256') : undefined,
    providerType: typeof provider?.type === 'string' ? provider.type : '',
    meta: Object.fromEntries(meta) as Record<string, string>,
  }
}

/** The bytes that another vmhost hands out itself; undefined where the service is of another kind. */
const servedSource = async (
  peer: RemoteCatalogSession,
  path: string,
  manifest: CatalogManifest,
  sha256: string | undefined,
  signal: AbortSignal,
): Promise<PackSource | undefined> => {
  const pack = await openRemoteContent(peer, path, { content: 'pack' }, signal)
  if (!pack) return undefined
  const { size } = pack
  const beside = await readRemotePart(peer, path, { content: 'pieces' }, largestSideFile, signal).catch(
    (error: unknown) => {
      if (isFault(error, 'not-found')) return undefined
      throw error
    },
  )
  const side = sideOf(beside, { size, sha256 })
  return {
    manifest,
    catalog: peer.server.url,
    origin: peer.server.url,
    size,
    sha256: sha256 ?? side?.sha256,
    side,
    async read(range, reading) {
      const bytes = await pack.read(range, reading)
      return sourceFromBytes(bytes).read({ start: 0, end: bytes.length })
    },
    async stored({ sha256: chunk, size: most }, reading) {
      const bytes = await readRemotePart(peer, path, { content: 'chunk', sha256: chunk }, most, reading)
      if (!bytes) throw new ServiceError('upstream', 'The other catalog does not hand out the chunks of the pack.')
      return bytes
    },
  }
}

/**
 * The storage that another service tells of, with what opens it. What only this host has is not for others to name: its own
 * folders, and the credentials of its environment. Throws `invalid`.
 */
const toldStorage = (
  type: string,
  meta: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Storage => {
  const { use_environment_authentication: _, ...told } = meta
  const storage = parseStorage(type, { ...told, ...own })
  if (storage.type === 'local-storage')
    throw new ServiceError(
      'invalid',
      'The other catalog has the pack in a folder, and does not hand it out; if this host reaches that too, say where by provider=local-storage;catalog_path=….',
    )
  return storage
}

/**
 * A pack of the catalog of another service: read from its storage where the request says what opens that, or the service
 * tells; else handed out by the service itself. Throws what that refuses with.
 */
export const peerSource = async (
  { architecture: hostArchitecture, catalog }: TransferContext,
  peer: RemoteCatalogSession,
  request: PullManifest,
  given: Storage | undefined,
  { job, signal }: SourceFor,
): Promise<PackSource> => {
  const architecture = request.architecture ?? hostArchitecture
  const place = formatCatalogPath(request.catalog_id, request.version, architecture)
  // Looked at first: the download is counted, by some once for the job, and what is not to be seen must not be.
  const shown = findVisibleManifest(peer, await requestJson(peer, { method: 'GET', path: place, signal }))
  // By its own version: a tag may lead to another one when it is asked for again, which need not be to be seen.
  const path = `${formatCatalogPath(request.catalog_id, shown.version || request.version, architecture)}/download`
  const headers = { 'X-Internal-Api-Client': 'true' }
  const found = findVisibleManifest(
    peer,
    await requestJson(peer, { method: 'GET', path, query: job === undefined ? {} : { job }, headers, signal }),
  )
  const manifest = normalizeRemoteManifest(found, { ...request, architecture })
  const { sha256, path: folder, pack, metadata, providerType, meta } = readManifest(found)
  const own = { ...given?.meta, ...request.provider_metadata }
  if (Object.keys(own).length === 0) {
    const served = await servedSource(peer, path, manifest, sha256, signal)
    if (served) return served
  }
  const storage = given ? parseStorage(given.type, own) : toldStorage(providerType, meta, request.provider_metadata)
  const inFolder = (name: string): string => [...folder.split('/').filter(Boolean), name].join('/')
  const packAt = inFolder(pack)
  await refuseHidden(catalog, peer.caller, storage, [packAt])
  const from = await catalog.storages.open(storage)
  const md5 = sha256 === undefined ? await readPackMd5(from, metadata && inFolder(metadata), signal) : undefined
  const known = { manifest, catalog: peer.server.url, origin: JSON.stringify([peer.server.url, storage]), sha256, md5 }
  return providerSource(from, packAt, known, signal)
}
