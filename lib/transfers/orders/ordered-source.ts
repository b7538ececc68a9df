import type { Principal } from '#lib/access/principal.ts'
import { toPackPath } from '#lib/catalog/manifest-objects.ts'
import { refuseHidden } from '#lib/catalog/owners.ts'
import { ServiceError } from '#lib/errors.ts'
import { parseStorage, type Storage } from '#lib/objects/port/connection.ts'
import type { TransferContext } from '../context.ts'
import {
  openProviderSource,
  type PackDescription,
  type PackSource,
  type SourceOptions,
} from '../download/pack-source.ts'
import { openServedSource } from '../served-source.ts'
import { assertSignedByControl } from './assert-signed-by-control.ts'
import type { SourceOrder } from './schemas.ts'

/** Parses the storage of an order. The credentials of this host's environment are not for the catalog of another service. */
const parseOrderedStorage = ({ type, meta }: NonNullable<SourceOrder['storage']>): Storage => {
  const storage = parseStorage(type, meta)
  if (meta['use_environment_authentication'] !== undefined || storage.type === 'local-storage')
    throw new ServiceError(
      'forbidden',
      `The pack is in storage of the kind ${storage.type} that belongs to another host: it is a folder there, or opened with credentials of its environment. Connect the manifest with a storage that has its own credentials.`,
    )
  return storage
}

/** Opens a pack that this host reads through its control, with the key of the host. */
const openPackOfControl = async (
  { remote, control }: TransferContext,
  caller: Principal,
  job: string,
  description: PackDescription,
  signal: AbortSignal,
): Promise<PackSource> => {
  if (!control)
    throw new ServiceError('conflict', 'This host reads packs through its control, and has no setting control_url.')
  const { url, headers } = control
  const server = { name: new URL(url).host, url }
  const session = { server, remote, caller, headers, canSee: () => true }
  const source = await openServedSource(session, `${control.packsPath}/${job}`, description, signal)
  if (source) return source
  throw new ServiceError('upstream', `The control ${url} does not send the pack of ${description.manifest.name}.`)
}

/**
 * Opens a pack as the control of this host says. The rules of this host for storages and for objects of its own catalog apply.
 * Throws `forbidden`, and what the storage or the control throws.
 */
export const openOrderedSource = async (
  context: TransferContext,
  caller: Principal,
  { manifest, catalog: address, storage: orderedStorage, md5, job }: SourceOrder,
  { signal }: SourceOptions,
): Promise<PackSource> => {
  const { catalog } = context
  assertSignedByControl(caller, 'source')
  const origin = address ?? caller.issuer
  const common = { manifest, catalog: origin, sha256: manifest.pack_sha256 || undefined, md5 }
  if (job !== undefined)
    return openPackOfControl(context, caller, job, { ...common, origin: JSON.stringify([origin, job]) }, signal)
  const path = toPackPath(manifest)
  if (!orderedStorage || path === undefined)
    throw new ServiceError('invalid', 'The order of the control does not say where the pack is.')
  const storage = parseOrderedStorage(orderedStorage)
  await refuseHidden(catalog, caller, storage, [path])
  const provider = await catalog.storages.open(storage)
  return openProviderSource(provider, path, { ...common, origin: JSON.stringify([origin, storage]) }, signal)
}
