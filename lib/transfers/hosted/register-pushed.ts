import type { Principal } from '#lib/access/principal.ts'
import type { Architecture } from '#lib/catalog/identifiers.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { updateMetadata } from '#lib/catalog/metadata.ts'
import { applyRegistration } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import { indexSuffix } from '#lib/packs/chunk-store/index-object.ts'
import type { Published, PushDestination } from '../push-cleanup.ts'
import type { ExistingManifest } from '../push-target.ts'
import type { PushManifest } from '../schemas.ts'
import type { HostedContext, TransferHost } from './context.ts'

/** A push that a host runs. */
export interface HostedPush extends PushDestination {
  readonly context: HostedContext
  readonly caller: Principal
  readonly request: PushManifest
  readonly architecture: Architecture
  readonly storage: Storage
  /** The id of the manifest if it is new. */
  readonly newId: string
  readonly signal: AbortSignal
}

/** Whether a push of a manifest can have given this name to its pack. */
export const isPackNameOf = (name: string, file: string): boolean =>
  file.startsWith(name) && /^(~[0-9a-f]{8})?\.(pdpack|chunks\.json)$/.test(file.slice(name.length))

/** Throws `upstream` when the provider does not have the pack that the host says it has uploaded. */
const checkUploaded = async (
  { name, provider, signal }: HostedPush,
  host: TransferHost,
  path: string,
  { pack_size: size, pack_sha256: sha256 }: CatalogManifest,
): Promise<void> => {
  const stored = await provider.stat(path, signal)
  // The size of a manifest in chunks is not that of its index.
  const hasSize = path.endsWith(indexSuffix) || stored?.size === size
  if (stored && hasSize && (stored.sha256 ?? sha256) === sha256) return
  throw new ServiceError(
    'upstream',
    `The pack of ${name} that the host ${host.name} has uploaded is not on the provider any more. Push it again.`,
  )
}

/**
 * Registers what a host has uploaded. What the host says is taken for the pack alone; everything else is what the request says.
 * Throws `upstream` for a pack that is not one of this push or is not on the provider, and what the catalog throws.
 */
export const registerPushed = async (
  push: HostedPush,
  host: TransferHost,
  pushed: CatalogManifest,
  existing: ExistingManifest | undefined,
  hidden: readonly string[],
): Promise<Published> => {
  const { context, request, architecture, name, storage, target, newId, signal } = push
  const { catalog } = context
  const { pack_filename: file, pack_sha256: sha256 } = pushed
  const packPath = `${request.catalog_id}/${file}`
  const isOwnFile = isPackNameOf(name, file) || file === existing?.pack_filename
  const isHidden = hidden.includes(packPath) || hidden.includes(packPath + sidecarSuffix)
  if (!isOwnFile || isHidden || !/^[0-9a-f]{64}$/.test(sha256))
    throw new ServiceError('upstream', `The host ${host.name} says of ${name} that its pack is ${packPath}.`)
  await checkUploaded(push, host, packPath, pushed)
  const registration = RegisterManifest.parse({
    ...request,
    id: existing?.id ?? newId,
    architecture,
    minimum_requirements: request.minimum_requirements ?? (existing ? undefined : pushed.minimum_requirements),
    type: pushed.type,
    provider: storage,
    is_compressed: pushed.is_compressed,
    size: pushed.size,
    pack_size: pushed.pack_size,
    pack_sha256: sha256,
    path: `/${request.catalog_id}`,
    pack_filename: file,
    metadata_filename: `${name}.meta`,
    virtual_machine_contents: pushed.virtual_machine_contents,
  })
  await target.check(registration, existing)
  // The host did not know what the manifest keeps.
  if (existing?.record)
    await updateMetadata(
      catalog,
      applyRegistration(registration, existing.record, { at: catalog.clock.next() }),
      signal,
    )
  const manifest = await target.register(registration, signal)
  return { manifest, packPath, sha256 }
}
