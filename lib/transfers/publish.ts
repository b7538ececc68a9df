import { isFault } from '#lib/errors.ts'
import { listEnd } from '#lib/packs/chunk-store/index-object.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { toMetadata, writeMetadata } from '#lib/catalog/metadata.ts'
import { sidecarSuffix } from '#lib/catalog/manifest-objects.ts'
import { encodeSideFile } from '#lib/packs/sidecar.ts'
import { sourceFromBytes } from '#lib/objects/port/bytes.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { applyRegisteredContents, applyRegistration } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import { contentItems } from './pushed-files.ts'
import { sourceOfFile } from './packing.ts'
import type { PackedMachine } from './push-pack.ts'
import type { Push } from './push-plan.ts'
import { undoAfterFailure } from '#lib/catalog/undo.ts'
import { type Before, packName, sideFileOf } from './pushed-objects.ts'
import type { KnownBefore } from './push-target.ts'

export interface Published {
  readonly registered: CatalogManifest
  /** The pack on the provider, or the list of its chunks. */
  readonly packAt: string
  readonly sha256: string
}

/** Whether a catalog has said that it does not take a manifest. */
const isRefusal = (error: unknown): boolean =>
  (['invalid', 'forbidden', 'not-found', 'conflict'] as const).some(fault => isFault(error, fault))

/** Removes what was uploaded in vain, unless the catalog has such a manifest by now, or others lead to it. */
const discard = async (
  { target, request, architecture }: Push,
  provider: Provider,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  if (await target.before(request, architecture, signal)) return
  const keeps = await target.others({ id: '' })
  for (const path of paths) if (!(await keeps(path))) await provider.remove(path, signal)
}

const packEndOf = ({ chunked }: Push['request']) => (chunked ? listEnd : '.pdpack')

/** Uploads under the name that follows from what it replaces, and registers that. */
const publishAs = async (
  push: Push,
  provider: Provider,
  { hold, type, files, size, packed, is_compressed }: PackedMachine,
  { before, replaced }: { readonly before: KnownBefore | undefined; readonly replaced: Before | undefined },
  signal: AbortSignal,
): Promise<Published> => {
  const { context, request, architecture, name, storage, target, work } = push
  const { digest } = packed
  work.begin('push_check_remote_stage')
  const registration = RegisterManifest.parse({
    ...request,
    // The description on the provider and the record have one id.
    id: before?.id ?? crypto.randomUUID(),
    architecture,
    type,
    provider: storage,
    is_compressed,
    size,
    pack_size: digest.size + packed.chunkBytes,
    pack_sha256: digest.sha256,
    path: `/${request.catalog_id}`,
    pack_filename: packName(name, digest, replaced, packEndOf(request)),
    metadata_filename: `${name}.meta`,
    virtual_machine_contents: contentItems(files),
  })
  const packAt = `${request.catalog_id}/${registration.pack_filename}`
  const metadataAt = `${request.catalog_id}/${name}.meta`
  await target.check(registration, before)
  const there = await provider.stat(packAt, signal)
  work.end('push_check_remote_stage')

  if (there?.size === digest.size && there.sha256 === digest.sha256) {
    work.skip('push_upload_pack_stage', 'not needed, the provider has it')
    // A kill right after its upload was complete has left the note of that.
    await provider.cleanUpUploads?.(packAt, signal)
  } else {
    work.begin('push_upload_pack_stage')
    // Whoever removes chunks must not begin before this list can be seen.
    await hold?.renew()
    await provider.write(packAt, sourceOfFile(packed.file, digest.size), {
      signal,
      sha256: digest.sha256,
      onProgress: done => work.advance('push_upload_pack_stage', done, digest.size),
    })
    work.end('push_upload_pack_stage')
  }

  work.begin('push_upload_meta_stage')
  const side = Buffer.from(encodeSideFile(sideFileOf(name, packed, files, context.signingKey)))
  await provider.write(packAt + sidecarSuffix, sourceFromBytes(side), { signal })
  const { catalog } = context
  const metadata = toMetadata(
    applyRegistration(registration, before?.record, { at: catalog.clock.next() }),
    applyRegisteredContents(registration, before?.record && (await catalog.contents.read(before.record))),
    { compressed_checksum: digest.md5 },
  )
  await writeMetadata(provider, metadataAt, metadata, signal)
  work.end('push_upload_meta_stage')

  work.begin('push_register_stage')
  await hold?.renew()
  const registered = await target.register(registration, signal).catch(async (error: unknown) => {
    // Nobody will lead to it. What the catalog has made of it, when it did not answer, nobody knows.
    if (!there && !replaced && isRefusal(error))
      throw await undoAfterFailure(error, until =>
        discard(push, provider, [metadataAt, packAt + sidecarSuffix, packAt], until),
      )
    throw error
  })
  work.end('push_register_stage')
  return { registered, packAt, sha256: digest.sha256 }
}

/** A pack of which nothing is known but its name, which a push must not take again. */
const unknownPack = (name: string): Before => ({ pack_filename: name, pack_sha256: '', revoked: false })

/**
 * What has the name that the pack of a new manifest would have, where it is of a manifest that the caller may not know of.
 * That manifest keeps it, and keeps nobody from pushing their own.
 */
const hiddenPack = async ({ target, request, name }: Push): Promise<Before | undefined> => {
  const pack = name + packEndOf(request)
  const hidden = await Promise.all(
    [pack, pack + sidecarSuffix].map(file => target.hides(`${request.catalog_id}/${file}`)),
  )
  return hidden.includes(true) ? unknownPack(pack) : undefined
}

/**
 * Uploads a packed machine and registers it, in an order in which what the manifest leads to is whole at every moment, and
 * stays so whoever deletes or pushes meanwhile. Throws what the provider and the catalog refuse with.
 */
export const publish = async (
  push: Push,
  provider: Provider,
  machine: PackedMachine,
  before: KnownBefore | undefined,
  signal: AbortSignal,
): Promise<Published> => {
  const { size, sha256 } = machine.packed.digest
  const replaced = before ?? (await hiddenPack(push))
  const published = await publishAs(push, provider, machine, { before, replaced }, signal)
  const { packAt } = published
  const there = await provider.stat(packAt, signal)
  if (there?.size === size && (there.sha256 ?? sha256) === sha256) return published
  // Somebody has deleted it meanwhile, or another host has pushed under the same name: once more, under one of its own.
  return publishAs(push, provider, machine, { before, replaced: unknownPack(packAt) }, signal)
}
