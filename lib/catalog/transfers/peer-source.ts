import { isFault, ServiceError } from '#lib/errors.ts'
import { maskStorage, type Storage, storageFrom } from '../connection.ts'
import type { CatalogManifest } from '../manifest.ts'
import { providerTypeOf } from '../provider-types.ts'
import { sourceOfBytes } from '../providers/bytes.ts'
import type { ByteRange } from '../providers/provider.ts'
import type { Manifest } from '../remote/manifests.ts'
import { askPeer, type Peer, seenManifest } from '../remote/peer.ts'
import { catalogPath } from '../remote/place.ts'
import type { TransferContext } from './context.ts'
import { largestSideFile, type PackSource, providerSource, sideOf } from './pack-source.ts'
import type { PullManifest } from './requests.ts'

/** What a pull reads of a manifest of another service, which may leave out what is empty. */
const readManifest = (found: Manifest) => {
  const text = (...keys: readonly string[]): string => {
    const value = keys.map(key => found[key]).find(one => typeof one === 'string' && one !== '')
    return typeof value === 'string' ? value : ''
  }
  const { provider } = found as { provider?: { type?: unknown; meta?: unknown } | null }
  const meta = Object.entries(Object(provider?.meta) as object).filter(([, value]) => typeof value === 'string')
  return {
    path: text('path'),
    pack: text('pack_filename', 'pack_path'),
    sha256: /^[0-9a-f]{64}$/.test(text('pack_sha256')) ? text('pack_sha256') : undefined,
    providerType: typeof provider?.type === 'string' ? provider.type : '',
    meta: Object.fromEntries(meta) as Record<string, string>,
  }
}

/** One of a download's contents, or the part of it; undefined where the service does not hand out bytes. */
const content = async (
  { remote, server, caller, headers }: Peer,
  path: string,
  part: { readonly content: 'pack' | 'pieces' } | { readonly content: 'chunk'; readonly sha256: string },
  most: number,
  signal: AbortSignal,
  range?: ByteRange,
) => {
  const asked = range && { Range: `bytes=${range.start}-${range.end - 1}` }
  const request = { caller: caller.id, method: 'GET', path, query: part, signal }
  const reply = await remote.read(server, { ...request, headers: { ...headers, ...asked } }, most)
  return reply.headers['content-type'] === 'application/octet-stream' ? reply : undefined
}

const wrongRange = (): ServiceError =>
  new ServiceError('upstream', 'The other catalog sent another part of the pack than it was asked for.')

/** The bytes that another vmhost hands out itself; undefined where the service is of another kind. */
const servedSource = async (
  peer: Peer,
  path: string,
  manifest: CatalogManifest,
  sha256: string | undefined,
  signal: AbortSignal,
): Promise<PackSource | undefined> => {
  const first = await content(peer, path, { content: 'pack' }, 1, signal, { start: 0, end: 1 })
  if (!first) return undefined
  const size = Number(/\/(\d+)$/.exec(first.headers['content-range'] ?? '')?.[1])
  if (first.status !== 206 || !Number.isSafeInteger(size)) throw wrongRange()
  const beside = await content(peer, path, { content: 'pieces' }, largestSideFile, signal).catch((error: unknown) => {
    if (isFault(error, 'not-found')) return undefined
    throw error
  })
  const side = sideOf(beside?.body, { size, sha256 })
  return {
    manifest,
    origin: peer.server.url,
    size,
    sha256: sha256 ?? side?.sha256,
    side,
    async read(range, reading) {
      const reply = await content(peer, path, { content: 'pack' }, range.end - range.start, reading, range)
      if (reply?.status !== 206 || reply.body.length !== range.end - range.start) throw wrongRange()
      return sourceOfBytes(reply.body).read({ start: 0, end: reply.body.length })
    },
    async stored({ sha256: chunk, size: most }, reading) {
      const reply = await content(peer, path, { content: 'chunk', sha256: chunk }, most, reading)
      if (!reply) throw wrongRange()
      return Buffer.from(reply.body)
    },
  }
}

/**
 * A pack of the catalog of another service: read from its storage where the request says what opens that, or the service
 * tells; else handed out by the service itself. Throws what that refuses with.
 */
export const peerSource = async (
  { architecture, catalog: { storages } }: TransferContext,
  peer: Peer,
  request: PullManifest,
  given: Storage | undefined,
  signal: AbortSignal,
): Promise<PackSource> => {
  const place = catalogPath(request.catalog_id, request.version, request.architecture ?? architecture)
  // Looked at first: the download is counted, and what is not to be seen must not be.
  seenManifest(peer, await askPeer(peer, { method: 'GET', path: place, signal }))
  const path = `${place}/download`
  const headers = { 'X-Internal-Api-Client': 'true' }
  const found = seenManifest(peer, await askPeer(peer, { method: 'GET', path, headers, signal }))
  const { sha256, path: folder, pack, providerType, meta } = readManifest(found)
  // Some services hand out what opens their storage: for us, and not to be passed on.
  const type = providerTypeOf(providerType)
  const provider = type ? maskStorage({ type, meta }) : { type: '', meta: {} }
  const manifest = { ...found, provider } as unknown as CatalogManifest
  const own = { ...given?.meta, ...request.provider_metadata }
  if (Object.keys(own).length === 0) {
    const served = await servedSource(peer, path, manifest, sha256, signal)
    if (served) return served
  }
  const storage = storageFrom(given?.type ?? providerType, { ...meta, ...own })
  const known = { manifest, origin: JSON.stringify([peer.server.url, storage]), sha256 }
  const from = await storages.open(storage)
  return providerSource(from, [...folder.split('/').filter(Boolean), pack].join('/'), known, signal)
}
