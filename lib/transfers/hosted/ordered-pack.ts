import type { Principal } from '#lib/access/principal.ts'
import type { Architecture } from '#lib/catalog/identifiers.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { readPackMd5 } from '#lib/catalog/metadata.ts'
import { refuseHidden } from '#lib/catalog/owners.ts'
import { toManifestView } from '#lib/catalog/view.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { openRemoteContent } from '#lib/remote-catalogs/remote-download.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import { findCatalogPack, readMissingMd5 } from '../catalog-source.ts'
import type { SourceOrder } from '../orders/schemas.ts'
import { findRemotePack } from '../remote-source.ts'
import type { PullManifest } from '../schemas.ts'
import type { HostedContext } from './context.ts'
import type { ServedPack } from './served-packs.ts'

/** Where a host finds a pack. */
export interface PackLocation {
  readonly order: Omit<SourceOrder, 'manifest' | 'job'>
  /** The pack as another service serves it, when the order does not say where it is. */
  readonly served?: ServedPack
}

/** A pack that a control can order a host to pull. */
export interface OrderedPack {
  /** The manifest as replies show it. */
  readonly manifest: CatalogManifest
  /** The id of the manifest, if it is of the catalog of this service. */
  readonly catalogId?: string
  /** Makes sure that the pack exists, and returns where. Throws `not-found`, and what the provider throws. */
  locate(): Promise<PackLocation>
}

interface PackOptions {
  /** The storage that the connection of the request names. */
  readonly storage: Storage | undefined
  readonly manager: RemoteCatalogSession | undefined
  readonly job: string | undefined
  readonly signal: AbortSignal
}

type Reference = PullManifest & { readonly architecture: Architecture }

/** Opens the provider of a pack. Throws `not-found` when the pack does not exist. */
const openPackProvider = async (
  { catalog }: HostedContext,
  storage: Storage,
  path: string,
  signal: AbortSignal,
): Promise<Provider> => {
  const provider = await catalog.storages.open(storage)
  if (await provider.stat(path, signal)) return provider
  throw new ServiceError('not-found', `The pack ${path} does not exist on the provider.`)
}

const toOrder = ({ type, meta }: Storage, md5: string | undefined): Pick<PackLocation['order'], 'storage' | 'md5'> => ({
  storage: { type, meta: { ...meta } },
  ...(md5 !== undefined && { md5 }),
})

const findOwnPack = async (
  context: HostedContext,
  caller: Principal,
  request: Reference,
  { storage: requestStorage, signal }: PackOptions,
): Promise<OrderedPack> => {
  const { manifest, storage, path } = await findCatalogPack(context, caller, request, requestStorage)
  return {
    manifest: await toManifestView(context.catalog.contents, manifest),
    catalogId: manifest.id,
    async locate() {
      const provider = await openPackProvider(context, storage, path, signal)
      return { order: toOrder(storage, await readMissingMd5(provider, manifest, signal)) }
    },
  }
}

const findPackOfManager = async (
  context: HostedContext,
  caller: Principal,
  request: Reference,
  { manager, job, signal }: PackOptions & { readonly manager: RemoteCatalogSession },
): Promise<OrderedPack> => {
  const pack = await findRemotePack(manager, request, undefined, { job, signal })
  const { sha256, path, packName, servedPath } = pack
  const folder = path.slice(0, -packName.length).replace(/\/$/, '')
  const catalog = manager.server.url
  return {
    manifest: { ...pack.manifest, path: `/${folder}`, pack_filename: packName, pack_sha256: sha256 ?? '' },
    async locate() {
      if (servedPath !== undefined && (await openRemoteContent(manager, servedPath, { content: 'pack' }, signal)))
        return { order: { catalog }, served: { session: manager, path: servedPath } }
      const storage = pack.readStorage()
      await refuseHidden(context.catalog, caller, storage, [path])
      const provider = await openPackProvider(context, storage, path, signal)
      const md5 = sha256 === undefined ? await readPackMd5(provider, pack.metadataPath, signal) : undefined
      return { order: { catalog, ...toOrder(storage, md5) } }
    },
  }
}

/** Finds the pack of a pull that a host runs, in the catalog of this service or of the manager. Throws as the sources of a pull. */
export const findOrderedPack = (
  context: HostedContext,
  caller: Principal,
  request: Reference,
  options: PackOptions,
): Promise<OrderedPack> =>
  options.manager
    ? findPackOfManager(context, caller, request, { ...options, manager: options.manager })
    : findOwnPack(context, caller, request, options)
