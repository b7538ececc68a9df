import type { Principal } from '#lib/access/principal.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { toMetadata, writeMetadata } from '#lib/catalog/metadata.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { createProviderTimeLimit } from '#lib/catalog/changes.ts'
import { applyRegisteredContents, applyRegistration } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import { undoAfterFailure } from '#lib/catalog/undo.ts'
import { isFault, messageOf } from '#lib/errors.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import { indexSuffix } from '#lib/packs/chunk-store/index-object.ts'
import { encodeSidecar } from '#lib/packs/sidecar.ts'
import type { TransferContext } from './context.ts'
import { createFileSource } from './file-source.ts'
import { toContentItems } from './files-to-push.ts'
import type { PackedMachine } from './packing.ts'
import {
  discardObjects,
  type Earlier,
  isRefusal,
  type Published,
  type PushDestination,
  removeReplaced,
} from './push-cleanup.ts'
import { choosePackName, createSidecar } from './pushed-objects.ts'
import type { ExistingManifest } from './push-target.ts'
import type { PushManifest } from './schemas.ts'
import type { PushStep } from './steps.ts'

/** A push that is running. */
export interface Push extends PushDestination {
  readonly context: TransferContext
  readonly caller: Principal
  readonly request: PushManifest
  readonly storage: Storage
  readonly progress: ProgressReporter<PushStep>
  readonly signal: AbortSignal
}

const getPackSuffix = ({ chunked }: PushManifest) => (chunked ? indexSuffix : '.pdpack')

/** Uploads the objects of the manifest and registers it. `isNameTaken` says that the pack needs a name of its own. */
const uploadAndRegister = async (
  push: Push,
  { lock, type, files, requirements, size, pack, chunkBytes, isCompressed }: PackedMachine,
  { existing, isNameTaken }: { readonly existing: ExistingManifest | undefined; readonly isNameTaken: boolean },
): Promise<Published> => {
  const { context, request, architecture, name, storage, provider, target, progress, signal } = push
  const { digest } = pack
  progress.begin('push_check_remote_stage')
  const registration = RegisterManifest.parse({
    ...request,
    // The description on the provider and the record have the same id.
    id: existing?.id ?? target.newId ?? crypto.randomUUID(),
    architecture,
    // A manifest that is replaced keeps its requirements, which somebody may have chosen.
    minimum_requirements: request.minimum_requirements ?? (existing ? undefined : requirements),
    type,
    provider: storage,
    is_compressed: isCompressed,
    size,
    pack_size: digest.size + chunkBytes,
    pack_sha256: digest.sha256,
    path: `/${request.catalog_id}`,
    pack_filename: choosePackName(name, digest, { existing, isNameTaken }, getPackSuffix(request)),
    metadata_filename: `${name}.meta`,
    virtual_machine_contents: toContentItems(files),
  })
  const packPath = `${request.catalog_id}/${registration.pack_filename}`
  const metadataPath = `${request.catalog_id}/${name}.meta`
  await target.check(registration, existing)
  const stored = await provider.stat(packPath, signal)
  progress.end('push_check_remote_stage')

  if (stored?.size === digest.size && stored.sha256 === digest.sha256) {
    progress.skip('push_upload_pack_stage', 'not needed, the provider has it')
    // A process that was killed just after its upload has left the record of that upload.
    await provider.cleanUpUploads?.(packPath, signal)
  } else {
    progress.begin('push_upload_pack_stage')
    // Nobody may remove chunks before the index that names them is visible.
    await lock?.renew()
    await provider.write(packPath, createFileSource(pack.file, digest.size), {
      signal,
      sha256: digest.sha256,
      onProgress: done => progress.advance('push_upload_pack_stage', done, digest.size),
    })
    progress.end('push_upload_pack_stage')
  }

  progress.begin('push_upload_meta_stage')
  const sidecar = Buffer.from(encodeSidecar(createSidecar(name, pack, files, context.signingKey)))
  await provider.write(packPath + sidecarSuffix, toSource(sidecar), { signal })
  const { catalog } = context
  const metadata = toMetadata(
    applyRegistration(registration, existing?.record, { at: catalog.clock.next() }),
    applyRegisteredContents(registration, existing?.record && (await catalog.contents.read(existing.record))),
    { compressed_checksum: digest.md5 },
  )
  await writeMetadata(provider, metadataPath, metadata, signal)
  progress.end('push_upload_meta_stage')

  progress.begin('push_register_stage')
  await lock?.renew()
  const manifest = await target.register(registration, signal).catch(async (error: unknown) => {
    const isNew = !stored && !existing && !isNameTaken
    if (!isNew || !isRefusal(error)) throw error
    const paths = [metadataPath, packPath + sidecarSuffix, packPath]
    throw await undoAfterFailure(error, undoSignal => discardObjects(push, paths, undoSignal))
  })
  progress.end('push_register_stage')
  return { manifest, packPath, sha256: digest.sha256 }
}

/**
 * Says whether the pack of a new manifest would have the name of an object of a manifest that the caller may not see. That
 * manifest keeps its object, and the caller can push under another name.
 */
const isNameHidden = async ({ target, request, name }: Push): Promise<boolean> => {
  const pack = `${request.catalog_id}/${name}${getPackSuffix(request)}`
  const isHidden = await Promise.all([pack, pack + sidecarSuffix].map(path => target.isHidden(path)))
  return isHidden.includes(true)
}

/** Cleans up after a push that is done. So a failure, for example in a registry that forbids removals, is only logged. */
const cleanUp = async (push: Push, published: Published, earlier: Earlier): Promise<void> => {
  const { context, name, progress, signal } = push
  progress.begin('cleaning_up')
  try {
    using limited = createProviderTimeLimit(signal)
    await removeReplaced(push, published, earlier, limited.signal)
  } catch (error) {
    if (signal.aborted || isFault(error, 'unavailable')) throw error
    context.warn(`The objects that the push of ${name} replaced could not be removed: ${messageOf(error)}`)
  }
  progress.end('cleaning_up')
}

/**
 * Uploads a packed machine, registers it and removes what it replaces. At every moment all objects of the manifest are
 * complete, whatever others push or delete meanwhile. Returns the manifest. Throws what the provider and the catalog throw.
 */
export const publish = async (push: Push, machine: PackedMachine, earlier: Earlier): Promise<CatalogManifest> => {
  const { provider, signal } = push
  const { existing } = earlier
  const { size, sha256 } = machine.pack.digest
  const isNameTaken = !existing && (await isNameHidden(push))
  let published = await uploadAndRegister(push, machine, { existing, isNameTaken })
  const stored = await provider.stat(published.packPath, signal)
  // If somebody has deleted or overwritten the pack meanwhile, it is published again under a name of its own.
  if (stored?.size !== size || (stored.sha256 ?? sha256) !== sha256)
    published = await uploadAndRegister(push, machine, { existing, isNameTaken: true })
  await cleanUp(push, published, earlier)
  return published.manifest
}
