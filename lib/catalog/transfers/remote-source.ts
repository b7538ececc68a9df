import type { Principal } from '#lib/auth/principal.ts'
import { isFault, ServiceError } from '#lib/errors.ts'
import { type Connection, type Storage, storageFrom } from '../connection.ts'
import type { CatalogManifest } from '../manifest.ts'
import { refuseHidden } from '../owners.ts'
import { sourceOfBytes } from '../providers/bytes.ts'
import type { ByteRange } from '../providers/provider.ts'
import { jsonOf } from '../remote/json.ts'
import { type Manifest, manifestsIn } from '../remote/manifests.ts'
import { catalogPath, serverOf } from '../remote/place.ts'
import { toldManifest } from '../remote/told-manifest.ts'
import type { RemoteServer } from '../remote/server.ts'
import type { TransferContext } from './context.ts'
import { bodyLimit } from '../requests.ts'
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

interface Asked {
  readonly context: TransferContext
  readonly caller: Principal
  readonly server: RemoteServer
  /** Of the manifest's download. */
  readonly path: string
}

/** One of a download's contents, or the part of it; undefined where the service does not hand out bytes. */
const content = async (
  { context: { remote }, caller, server, path }: Asked,
  part: 'pack' | 'pieces',
  most: number,
  range: ByteRange | undefined,
  signal: AbortSignal,
) => {
  const headers = range && { Range: `bytes=${range.start}-${range.end - 1}`, 'Accept-Encoding': 'identity' }
  const request = {
    caller: caller.id,
    method: 'GET',
    path,
    query: { content: part },
    signal,
    ...(headers && { headers }),
  }
  const reply = await remote.read(server, request, most)
  return reply.headers['content-type'] === 'application/octet-stream' ? reply : undefined
}

const wrongRange = (): ServiceError =>
  new ServiceError('upstream', 'The other catalog sent another part of the pack than it was asked for.')

/** The bytes that another vmhost hands out itself; undefined where the service is of another kind. */
const servedSource = async (
  asked: Asked,
  manifest: CatalogManifest,
  sha256: string | undefined,
  signal: AbortSignal,
): Promise<PackSource | undefined> => {
  // One that hands out no bytes answers with its manifest again.
  const first = await content(asked, 'pack', bodyLimit, { start: 0, end: 1 }, signal)
  if (!first) return undefined
  const size = Number(/\/(\d+)$/.exec(first.headers['content-range'] ?? '')?.[1])
  if (first.status !== 206 || !Number.isSafeInteger(size)) throw wrongRange()
  const beside = await content(asked, 'pieces', largestSideFile, undefined, signal).catch((error: unknown) => {
    if (isFault(error, 'not-found')) return undefined
    throw error
  })
  const side = sideOf(beside?.body, { size, sha256 })
  return {
    manifest,
    size,
    sha256: sha256 ?? side?.sha256,
    side,
    async read(range, reading) {
      const reply = await content(asked, 'pack', range.end - range.start, range, reading)
      if (reply?.status !== 206 || reply.body.length !== range.end - range.start) throw wrongRange()
      return sourceOfBytes(reply.body).read({ start: 0, end: reply.body.length })
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
  const storage = storageFrom(type, { ...told, ...own })
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
export const remoteSource = async (
  context: TransferContext,
  caller: Principal,
  request: PullManifest,
  { service, storage: given }: Connection & { readonly service: NonNullable<Connection['service']> },
  signal: AbortSignal,
): Promise<PackSource> => {
  const server = serverOf(service)
  const architecture = request.architecture ?? context.architecture
  const path = `${catalogPath(request.catalog_id, request.version, architecture)}/download`
  const headers = { 'X-Internal-Api-Client': 'true' }
  // One manifest; the room of a whole list would let its sender keep this service busy with reading it.
  const asked = { caller: caller.id, method: 'GET', path, headers, signal }
  const [found] = manifestsIn(jsonOf(await context.remote.read(server, asked, 2 * bodyLimit)))
  if (!found) throw new ServiceError('not-found', `The catalog of ${server.name} has no such manifest.`)
  const manifest = toldManifest(found, { ...request, architecture })
  const { sha256, path: folder, pack, providerType, meta } = readManifest(found)
  const own = { ...given?.meta, ...request.provider_metadata }
  if (Object.keys(own).length === 0) {
    const served = await servedSource({ context, caller, server, path }, manifest, sha256, signal)
    if (served) return served
  }
  const storage = given ? storageFrom(given.type, own) : toldStorage(providerType, meta, request.provider_metadata)
  const packAt = [...folder.split('/').filter(Boolean), pack].join('/')
  await refuseHidden(context.catalog, caller, storage, [packAt])
  const provider = await context.catalog.storages.open(storage)
  return providerSource(provider, packAt, { manifest, sha256 }, signal)
}
